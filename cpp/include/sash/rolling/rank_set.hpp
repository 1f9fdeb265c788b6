// RankSet: a set of small integers (ranks) that finds its neighbours fast.
//
// One bit for each rank, and above each level of words a level with one bit for each word that is
// not empty: a neighbour is found within one word, or by going up and down a few levels of 64-fold
// branching. Counting how many are below a rank keeps a Fenwick tree over the words, if asked for.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace sash::rolling {

class RankSet {
 public:
  static constexpr std::size_t none = ~std::size_t{0};
  explicit RankSet(bool counts) : counts_(counts) {}

  // Empties the set and makes room for ranks below n.
  void reset(std::size_t n) {
    depth_ = 0;
    do {
      n = (n + 63) / 64;
      if (levels_.size() <= depth_) levels_.emplace_back();
      levels_[depth_++].assign(n == 0 ? 1 : n, 0);
    } while (n > 1);
    if (counts_) fenwick_.assign(levels_[0].size() + 1, 0);
  }

  void add(std::size_t r) {
    if (counts_) count(r, 1);
    for (std::size_t k = 0; k < depth_; ++k) {
      std::uint64_t& word = levels_[k][r / 64];
      const bool was_empty = word == 0;
      word |= std::uint64_t{1} << (r % 64);
      if (!was_empty) return;
      r /= 64;
    }
  }
  void remove(std::size_t r) {
    if (counts_) count(r, -1);
    for (std::size_t k = 0; k < depth_; ++k) {
      std::uint64_t& word = levels_[k][r / 64];
      word &= ~(std::uint64_t{1} << (r % 64));
      if (word != 0) return;
      r /= 64;
    }
  }

  // The nearest member above r, and below it.
  std::size_t next(std::size_t r) const {
    for (std::size_t k = 0; k < depth_; ++k) {
      const std::uint64_t above = levels_[k][r / 64] & (~std::uint64_t{1} << (r % 64));
      if (above != 0)
        return descend(k, r / 64, above, [](std::uint64_t w) { return std::countr_zero(w); });
      r /= 64;
    }
    return none;
  }
  std::size_t prev(std::size_t r) const {
    for (std::size_t k = 0; k < depth_; ++k) {
      const std::uint64_t below = levels_[k][r / 64] & ((std::uint64_t{1} << (r % 64)) - 1);
      if (below != 0)
        return descend(k, r / 64, below, [](std::uint64_t w) { return 63 - std::countl_zero(w); });
      r /= 64;
    }
    return none;
  }

  // How many members are below r. Only with counts.
  std::size_t below(std::size_t r) const {
    const std::size_t word = r / 64;
    std::int64_t sum = 0;
    for (std::size_t i = word; i > 0; i &= i - 1) sum += fenwick_[i];
    if (word >= levels_[0].size()) return static_cast<std::size_t>(sum);
    const std::uint64_t low = levels_[0][word] & ((std::uint64_t{1} << (r % 64)) - 1);
    return static_cast<std::size_t>(sum + std::popcount(low));
  }

 private:
  template <class Pick>
  std::size_t descend(std::size_t k, std::size_t word, std::uint64_t bits, Pick pick) const {
    std::size_t at = word * 64 + static_cast<std::size_t>(pick(bits));
    while (k-- > 0) at = at * 64 + static_cast<std::size_t>(pick(levels_[k][at]));
    return at;
  }
  void count(std::size_t r, std::int32_t change) {
    for (std::size_t i = r / 64 + 1; i < fenwick_.size(); i += i & (~i + 1)) fenwick_[i] += change;
  }

  std::vector<std::vector<std::uint64_t>> levels_;
  std::vector<std::int32_t> fenwick_;  // [i]: members in the words that end before word i
  std::size_t depth_ = 0;
  bool counts_;
};

}  // namespace sash::rolling
