// Recalc
//   order    first in, first out
//   laws     associative
//   time     query n combines, insert 0, evict 0
//   space    n entries
//   paper    the papers' baseline: recalculate from scratch
//   use      the oracle that every other structure is tested against
//
// Invariant: the queue holds the window's entries, oldest first.
#pragma once

#include "sash/fifo.hpp"

namespace sash {

template <Monoid M>
class Recalc : public FifoBase<M, 1, true> {
  using Base = FifoBase<M, 1, true>;
  using Base::m_, Base::queue_, Base::at;
  using typename Base::Position;

 public:
  using Cell = typename M::Cell;
  static constexpr bool keeps_values = true;
  static constexpr Holds kept = Holds::entry;

  explicit Recalc(M m) : Base(std::move(m)) {}
  ~Recalc() { clear(); }

  void insert(const typename M::In& in) {
    this->lift_at_end(in);
    queue_.push_back();
  }
  void evict() { this->pop_front(Holds::entry); }

  void query(Cell* out) const {
    m_.set_identity(out);
    this->walk([&](std::size_t, Position p) { m_.append(out, at(p)); });
  }

  void clear() { this->drop_all(all_entries); }
  std::size_t partials() const { return queue_.size(); }

  template <class F>
  void for_each(F&& f) const {
    this->walk([&](std::size_t, Position p) { f(at(p)); });
  }
  void check_invariants() const { queue_.check_invariants(); }

  template <class Archive>
  void archive(Archive& a) {
    std::size_t n = queue_.size();
    a.count(n, m_);
    this->archive_slots(a, n, all_entries);
  }
};

}  // namespace sash
