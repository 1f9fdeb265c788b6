// FingerTree and ClassicTree against recomputation: every operation, in random and adversarial
// orders, with monoids that are non-commutative, that hold references, and that throw.
// Usage: tree_test [rounds] [seed]
#include "tree_trial.hpp"

using namespace sash;
using namespace sash::trials;

namespace {

Tally all;

// Orders chosen to be hard, then everything at random.
template <class M, bool Fingers>
void orders(TreeShape shape, unsigned seed, const char* name, int n) {
  Dice dice(seed);
  TreeTrial<M, Fingers> t(shape, dice, name);
  t.every = 7;
  for (int i = 0; i < n; ++i) t.insert(i);  // ascending
  for (int i = 0; i < n / 2; ++i) t.evict();
  for (int i = 0; i < n; ++i) t.insert(-i);                               // descending
  for (int i = 0; i < n; ++i) t.insert(i % 2 != 0 ? i : 2 * n - i);       // zig-zag
  for (int i = 0; i < n; ++i) t.insert(i < n / 2 ? 3 * i : 3 * (n - i));  // organ pipe
  t.bulk_evict(-n / 2);
  for (int i = 0; i < n / 4; ++i) t.insert(-10 * n), t.evict();  // far late
  for (int i = 2 * n; i > n / 3; --i) t.evict(i);                // from the back
  for (int i = 0; i < n / 3; ++i) t.evict((i * 7) % (n / 3));    // from the middle
  t.insert(kLowest), t.insert(kHighest), t.insert(kLowest), t.bulk_evict(kLowest);
  t.insert(kLowest), t.evict(kHighest);
  t.bulk_insert({kLowest, kLowest, 0, kHighest, kHighest});
  t.bulk_evict(kHighest);
  t.verify();
  all += t.tally();
}

template <class M, bool Fingers>
void published_faults(TreeShape shape, const char* name) {
  Dice dice(1);
  TreeTrial<M, Fingers> t(shape, dice, name);
  for (Time i = 0; i <= 60; i += 10) t.insert(i);
  t.bulk_insert({11, 12, 13, 14, 15, 20, 21, 22, 23, 24, 25});
  t.bulk_insert({30, 30, 40, 40, 40});
  t.bulk_evict(22);
  t.bulk_evict(0);
  t.bulk_evict(kHighest);
  t.evict();
  t.verify();
  all += t.tally();
}

template <class M, bool Fingers>
void try_all(const char* name, unsigned seed, int rounds) {
  const M m;
  const TreeShape shapes[] = {{4, 4}, {2, 4}, {3, 5}, {8, 4}, {5, 9}, {16, 8}, default_shape(m)};
  for (const TreeShape& shape : shapes) {
    published_faults<M, Fingers>(shape, name);
    orders<M, Fingers>(shape, seed, name, rounds / 20);
    const Time spans[] = {30, 300, 3000};
    for (const Time span : spans) {
      Dice dice(seed + static_cast<unsigned>(span));
      TreeTrial<M, Fingers> t(shape, dice, name);
      t.every = span < 100 ? 1 : span < 1000 ? 4 : 29;
      for (int i = 0; i < rounds; ++i) t.random(i / 4, i / 4 + span);
      t.verify();
      all += t.tally();
    }
    if (objects != 0) fail("objects leaked", name);
  }
}

}  // namespace

int main(int argc, char** argv) {
  const int rounds = argc > 1 ? std::atoi(argv[1]) : 1000;
  const auto seed = static_cast<unsigned>(argc > 2 ? std::atoi(argv[2]) : 1);
  try {
    try_all<Scalar<Affine>, true>("affine", seed, rounds);
    try_all<Scalar<Affine>, false>("affine, classic", seed, rounds);
    try_all<Scalar<SumF64>, true>("sum", seed, rounds);
    try_all<Scalar<SumI64>, true>("integer sum", seed, rounds);
    try_all<Scalar<SumI64>, false>("integer sum, classic", seed, rounds);
    try_all<Wide, true>("wide", seed, rounds);
    try_all<Refs<false>, true>("references", seed, rounds);
    try_all<Refs<true>, true>("references, commutative", seed, rounds);
    try_all<Refs<false>, false>("references, classic", seed, rounds);
  } catch (const std::exception& e) {
    fail(e.what(), "thrown");
  }
  std::printf("ok: %lu operations, %lu undone on the way\n", all.operations, all.undone);
}
