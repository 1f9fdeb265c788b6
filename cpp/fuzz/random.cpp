// Random operations, by seed, until there are as many as asked for.
// Usage: random [operations] [first seed]
// Prints a line for each structure: its name, operations, comparisons with brute force, operations
// that threw and were undone.
#include <map>

#include "target.hpp"

using namespace sash;

namespace {

// Windows are small most of the time: most runs are short, few are long.
std::size_t length(trials::Dice& dice) {
  if (dice.one_in(200)) return 20'000;
  return dice.one_in(10) ? 2'000 : 200;
}

}  // namespace

int main(int argc, char** argv) {
  const std::uint64_t wanted = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 1'000'000;
  std::uint64_t seed = argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 1;
  std::map<std::string, trials::Tally> all;
  std::uint64_t done = 0;
  for (; done < wanted; ++seed) {
    trials::source = "seed " + std::to_string(seed);
    trials::Dice dice(seed);
    try {
      const fuzz::Done one = fuzz::run(dice, length(dice));
      all[one.what] += one.tally;
      done += one.tally.operations;
    } catch (const std::exception& error) {
      trials::fail(error.what(), "thrown");
    }
  }
  for (const auto& [what, tally] : all)
    std::printf("%s\t%lu\t%lu\t%lu\n", what.c_str(), tally.operations, tally.comparisons,
                tally.undone);
}
