// How often each value occurs in a rolling window: exact distinct counts, and the mode.
//
// Values come as codes 0, 1, 2, ... in ascending order of the values. The number of distinct values
// takes O(1) for each row; the most frequent one, the smallest of several, is the winner of a
// tournament over the codes: O(log(codes)).
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace sash::rolling {

class ValueCounts {
 public:
  ValueCounts(std::size_t codes, bool mode) : counts_(std::bit_ceil(codes + 1)) {
    if (mode) {
      winners_.resize(counts_.size());
      for (std::size_t i = counts_.size(); i-- > 1;)
        winners_[i] = static_cast<std::uint32_t>(contender(2 * i));
    }
  }
  void add(std::size_t code) {
    if (counts_[code]++ == 0) ++distinct_;
    if (!winners_.empty()) replay(code);
  }
  void remove(std::size_t code) {
    if (--counts_[code] == 0) --distinct_;
    if (!winners_.empty()) replay(code);
  }
  std::size_t distinct() const { return distinct_; }
  std::size_t mode() const {
    return winners_.size() > 1 ? winners_[1] : 0;
  }  // of a non-empty window

 private:
  // The winner below node i; the codes are the leaves, right of all nodes.
  std::size_t contender(std::size_t i) const {
    return i >= counts_.size() ? i - counts_.size() : winners_[i];
  }
  void replay(std::size_t code) {
    for (std::size_t i = (code + counts_.size()) / 2; i > 0; i /= 2) {
      const std::size_t a = contender(2 * i), b = contender(2 * i + 1);
      const auto winner = static_cast<std::uint32_t>(counts_[b] > counts_[a] ? b : a);
      if (winners_[i] == winner && winner != code) return;  // nothing changes above
      winners_[i] = winner;
    }
  }
  std::vector<std::uint32_t> counts_, winners_;
  std::size_t distinct_ = 0;
};

}  // namespace sash::rolling
