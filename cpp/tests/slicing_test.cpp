// WindowOperator against brute force: random streams, by seed.
// Usage: slicing_test [streams] [first seed]
#include "operator_trial.hpp"

using namespace sash;
using namespace sash::trials;

namespace {

template <class S>
Tally stream(std::uint64_t seed, const char* name) {
  Dice dice(seed);
  OperatorTrial<S> trial(dice, std::string(name) + ", seed " + std::to_string(seed));
  for (int i = 0; i < 40; ++i) trial.random();
  trial.finish();
  return trial.tally();
}

}  // namespace

int main(int argc, char** argv) {
  const auto streams = static_cast<std::uint64_t>(argc > 1 ? std::atoi(argv[1]) : 600);
  const auto first = static_cast<std::uint64_t>(argc > 2 ? std::atoi(argv[2]) : 1);
  Tally all;
  for (std::uint64_t seed = first; seed < first + streams; ++seed) {
    all += stream<SumF64>(seed, "sum");
    all += stream<Affine>(seed, "affine");
  }
  std::printf("slicing: %lu streams of %lu rows and watermarks, as by brute force %lu times\n",
              2 * streams, all.operations, all.comparisons);
}
