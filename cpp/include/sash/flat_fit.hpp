// FlatFit
//   order    first in, first out
//   laws     associative
//   time     query amortised 3 (worst n - 1), insert 0, evict 0 combines
//   space    n partial aggregates and n links
//   paper    FlatFIT (Shein et al. 2017), as compared in the DABA article, section 8.1
//   use      a comparator; expensive combines with rare queries
//
// Each slot holds the aggregate from itself up to the slot its link names. A query follows the
// links from the oldest slot to the end and, walking back, lengthens each of them to the end.
//
// Invariants: for each slot i in the window, i < link(i) <= end, and the slot holds
// v_i (x) ... (x) v_{link(i)-1}.
#pragma once

#include <new>
#include <stdexcept>
#include <vector>

#include "sash/state_array.hpp"

namespace sash {

template <Monoid M>
class FlatFit {
 public:
  using Cell = typename M::Cell;
  static constexpr bool keeps_values = false;

  explicit FlatFit(M m) : m_(std::move(m)), ring_(m_), links_(8) {}
  FlatFit(const FlatFit&) = delete;
  FlatFit& operator=(const FlatFit&) = delete;
  ~FlatFit() { clear(); }

  const M& monoid() const { return m_; }
  std::size_t size() const { return ring_.last() - ring_.first(); }
  std::size_t partials() const { return size(); }
  std::size_t bytes() const {
    return ring_.bytes() + (links_.capacity() + path_.capacity()) * sizeof(std::uint64_t);
  }

  void insert(const typename M::In& in) {
    if (size() == links_.size()) relink(links_.size() * 2);
    Cell* slot = ring_.next();
    m_.lift(slot, in);
    m_.to_state(slot, slot);
    link(ring_.last()) = ring_.last() + 1;
    ring_.push_back();
  }

  void evict() {
    ring_.pop_until(ring_.first() + 1);
    if (links_.size() > 8 && size() < links_.size() / 4) shrink();
  }

  void query(Cell* out) {
    if (ring_.empty()) return m_.set_identity(out);
    const std::uint64_t end = ring_.last();
    std::uint64_t at = ring_.first();
    try {
      for (; link(at) != end; at = link(at)) path_.push_back(at);
      for (; !path_.empty(); path_.pop_back()) {
        const std::uint64_t before = path_.back();
        m_.combine(ring_.at(before), ring_.at(before), ring_.at(at));
        link(before) = end;
        at = before;
      }
    } catch (...) {  // each step is whole: the window is as it was, some links are longer
      path_.clear();
      throw;
    }
    m_.copy_state(out, ring_.at(at));
  }

  void clear() {
    ring_.pop_until(ring_.last());
    links_.resize(8);
    links_.shrink_to_fit();
    path_.shrink_to_fit();
  }

  void check_invariants() const {
    for (std::uint64_t i = ring_.first(); i != ring_.last(); ++i)
      if (link(i) <= i || link(i) > ring_.last()) throw std::logic_error("FlatFit: a link is off");
  }

  template <class Archive>
  void archive(Archive& a) {
    std::size_t n = size();
    a.count(n, m_);
    const std::uint64_t first = ring_.first();
    for (std::size_t i = 0; i < n; ++i) {
      if constexpr (Archive::loading) {
        if (size() == links_.size()) relink(links_.size() * 2);
        std::uint64_t length = 0;
        a.number(length);
        a.require(length >= 1 && length <= n - i, "a link is off");
        Cell* slot = ring_.next();
        a.state(m_, slot);
        link(ring_.last()) = ring_.last() + length;
        ring_.push_back();
      } else {
        std::uint64_t length = link(first + i) - (first + i);
        a.number(length);
        a.state(m_, ring_.at(first + i));
      }
    }
  }

 private:
  std::uint64_t& link(std::uint64_t i) { return links_[i & (links_.size() - 1)]; }
  std::uint64_t link(std::uint64_t i) const { return links_[i & (links_.size() - 1)]; }
  void shrink() {
    path_.shrink_to_fit();  // empty, but between a query's beginning and end
    try {
      relink(links_.size() / 2);
    } catch (const std::bad_alloc&) {  // a smaller array is only a saving
    }
  }
  void relink(std::size_t capacity) {
    std::vector<std::uint64_t> fresh(capacity);
    for (std::uint64_t i = ring_.first(); i != ring_.last(); ++i)
      fresh[i & (capacity - 1)] = link(i);
    links_ = std::move(fresh);
  }

  M m_;
  StateRing<M> ring_;
  std::vector<std::uint64_t> links_, path_;
};

}  // namespace sash
