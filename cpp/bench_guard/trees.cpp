// FingerTree: single entries and bulks, in order and late, and parts of the window.
#include <algorithm>
#include <vector>

#include "sash/finger_tree.hpp"
#include "workload.hpp"

using namespace sash;

namespace guard {
namespace {

constexpr std::size_t kWindow = 16384, kRounds = 4096, kBulk = 1024;
constexpr std::uint64_t kLate = 1024;  // rows, at most

// The query against all entries, one after the other.
template <class M>
void check(const FingerTree<M>& tree, const char* name) {
  typename M::Cell all, answer;
  tree.monoid().set_identity(&all);
  tree.for_each([&](Time, const typename M::Cell* entry) { tree.monoid().append(&all, entry); });
  tree.query(&answer);
  expect(tree.size() == kWindow && tree.monoid().same_state(&all, &answer), name);
}

template <class M>
FingerTree<M> filled(Arrivals& arrivals) {
  FingerTree<M> tree(M{});
  for (std::size_t i = 0; i < kWindow; ++i) tree.insert(arrivals.time(i), value(i));
  return tree;
}

// Each round evicts the oldest, inserts one and asks for all.
template <class M>
void slide(const char* name, std::uint64_t late) {
  Arrivals arrivals(late);
  auto tree = filled<M>(arrivals);
  measure(name, kRounds, [&] {
    double sum = 0;
    typename M::Cell answer;
    for (std::size_t i = kWindow; i < kWindow + kRounds; ++i) {
      tree.evict();
      tree.insert(arrivals.time(i), value(i));
      tree.query(&answer);
      sum += number(answer);
    }
    return sum;
  });
  check(tree, name);
}

// Each round evicts the oldest 1,024 at once, inserts as many at once and asks for all.
template <class M>
void slide_bulks(const char* name, std::uint64_t late) {
  Arrivals arrivals(late);
  auto tree = filled<M>(arrivals);
  constexpr std::size_t bulks = 16;
  std::vector<std::vector<Time>> batches(bulks);
  std::vector<Time> ends(bulks), kept;  // evicted up to here
  tree.for_each([&](Time t, const auto*) { kept.push_back(t); });
  for (std::size_t k = 0; k < bulks; ++k) {
    for (std::size_t i = 0; i < kBulk; ++i)
      batches[k].push_back(arrivals.time(kWindow + k * kBulk + i));
    std::sort(batches[k].begin(), batches[k].end());
    ends[k] = kept[kBulk - 1];
    kept.erase(kept.begin(), kept.begin() + kBulk);
    kept.insert(kept.end(), batches[k].begin(), batches[k].end());
    std::sort(kept.begin(), kept.end());
  }
  measure(name, bulks * kBulk, [&] {
    double sum = 0;
    typename M::Cell answer;
    for (std::size_t k = 0; k < bulks; ++k) {
      tree.bulk_evict(ends[k]);
      tree.bulk_insert(batches[k].data(), kBulk, [&](std::size_t i, typename M::Cell* entry) {
        tree.monoid().lift(entry, value(i));
      });
      tree.query(&answer);
      sum += number(answer);
    }
    return sum;
  });
  check(tree, name);
}

// Each operation asks for the part of the window between two random rows.
void ask_parts(const char* name) {
  FingerTree<Sum> tree(Sum{});
  std::vector<double> before{0};  // the sum of all rows before each
  for (std::size_t i = 0; i < kWindow; ++i) {
    tree.insert(static_cast<Time>(i), value(i));
    before.push_back(before.back() + value(i).value);
  }
  std::vector<std::pair<Time, Time>> parts;
  Random random;
  double all = 0;
  for (std::size_t i = 0; i < kRounds; ++i) {
    const std::uint64_t a = random.below(kWindow), b = random.below(kWindow);
    parts.emplace_back(std::min(a, b), std::max(a, b));
    all -= before[std::max(a, b) + 1] - before[std::min(a, b)];
  }
  measure(name, kRounds, [&] {
    for (const auto& [from, to] : parts) {
      double answer;
      tree.query(from, to, &answer);
      all += answer;
    }
    return all;
  });
  expect(all == 0, name);
}

}  // namespace

void run() {
  slide<Sum>("FingerTree: in order", 0);
  slide<Sum>("FingerTree: late", kLate);
  slide<Maps>("FingerTree: in order, not commutative", 0);
  slide<Maps>("FingerTree: late, not commutative", kLate);
  slide_bulks<Sum>("FingerTree: bulks in order", 0);
  slide_bulks<Sum>("FingerTree: bulks late", kLate);
  ask_parts("FingerTree: parts");
}

}  // namespace guard
