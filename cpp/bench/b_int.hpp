// BaseIntervals: a comparator (Arasu and Widom, 2004, section 4).
//   order    first in, first out; at most as many entries as it was made for
//   time     insert 1 combine amortised (worst log n), evict 0, query at most 2 log n
//   space    2n partial aggregates
//
// Level k is a ring of the aggregates of aligned runs of 2^k entries. An insert computes the runs
// that it completes. A query splits the window into the longest aligned runs, oldest first.
#pragma once

#include <bit>
#include <memory>
#include <vector>

#include "sash/state_array.hpp"

namespace bench {

template <sash::Monoid M>
class BaseIntervals {
 public:
  using Cell = typename M::Cell;

  BaseIntervals(M m, std::size_t most) : m_(std::move(m)), capacity_(std::bit_ceil(most)) {
    for (std::size_t runs = capacity_; runs != 0; runs /= 2) levels_.emplace_back(m_, runs);
  }
  BaseIntervals(const BaseIntervals&) = delete;
  BaseIntervals& operator=(const BaseIntervals&) = delete;

  const M& monoid() const { return m_; }
  std::size_t size() const { return end_ - begin_; }
  std::size_t bytes() const {
    std::size_t total = 0;
    for (const auto& level : levels_) total += level.bytes();
    return total;
  }

  void insert(const typename M::In& in) {
    Cell* entry = run(0, end_);
    m_.lift(entry, in);
    m_.to_state(entry, entry);
    std::uint64_t at = end_++;
    for (std::size_t k = 1; k < levels_.size() && at % 2 == 1; ++k, at /= 2)
      m_.combine(run(k, at / 2), run(k - 1, at - 1), run(k - 1, at));
  }
  void evict() { ++begin_; }
  void evict_many(std::size_t n) { begin_ += n; }

  void query(Cell* out) const {
    if (begin_ == end_) return m_.set_identity(out);
    std::uint64_t at = begin_;
    bool some = false;
    while (at != end_) {
      const int fits = std::bit_width(end_ - at) - 1;
      const int k = at == 0 ? fits : std::min(fits, std::countr_zero(at));
      const Cell* next = run(static_cast<std::size_t>(k), at >> k);
      if (some) m_.combine(out, out, next);
      else m_.copy_state(out, next);
      some = true;
      at += std::uint64_t{1} << k;
    }
  }

 private:
  Cell* run(std::size_t k, std::uint64_t i) const {
    return levels_[k][i & (levels_[k].size() - 1)];
  }

  M m_;
  std::size_t capacity_;
  std::vector<sash::StateArray<M>> levels_;
  std::uint64_t begin_ = 0, end_ = 0;
};

}  // namespace bench
