// SubtractOnEvict
//   order    first in, first out
//   laws     associative, invertible
//   time     query 0, insert 1 combine, evict 1 inverse
//   space    n entries + 1 aggregate
//   paper    the papers' baseline for invertible aggregations
//   use      exact invertible aggregates: counts, integer sums, histograms
//
// Invariants
//   1. the queue holds the window's entries, oldest first;
//   2. total = v_0 (x) ... (x) v_{n-1}, up to the rounding of an inexact inverse.
#pragma once

#include "sash/fifo.hpp"

namespace sash {

template <Invertible M>
class SubtractOnEvict : public FifoBase<M, 1, true> {
  using Base = FifoBase<M, 1, true>;
  using Base::m_, Base::queue_, Base::at;
  using typename Base::Position;

 public:
  using Cell = typename M::Cell;
  static constexpr bool keeps_values = true;
  static constexpr Holds kept = Holds::entry;

  explicit SubtractOnEvict(M m) : Base(std::move(m)), total_(m_) {}
  ~SubtractOnEvict() { this->drop_all(all_entries); }

  void insert(const typename M::In& in) {
    Cell* slot = this->lift_at_end(in);
    this->guarded([&] { m_.append(total_.get(), slot); }, [&] { this->drop_at_end(); });
    queue_.push_back();
  }

  void evict() {
    if (queue_.size() == 1) m_.set_identity(total_.get());  // and forget what rounding left behind
    else m_.uncombine_front(total_.get(), at(queue_.front()));
    this->pop_front(Holds::entry);
  }

  void query(Cell* out) const { m_.copy_state(out, total_.get()); }

  void clear() {
    this->drop_all(all_entries);
    m_.set_identity(total_.get());
  }
  std::size_t partials() const { return queue_.size() + 1; }

  template <class F>
  void for_each(F&& f) const {
    this->walk([&](std::size_t, Position p) { f(at(p)); });
  }

  void check_invariants() const {
    queue_.check_invariants();
    Held<M> fold(m_);
    this->walk([&](std::size_t, Position p) { m_.append(fold.get(), at(p)); });
    Base::require(!m_.exact() || m_.same_state(fold.get(), total_.get()),
                  "SubtractOnEvict invariant 2: total is stale");
  }

  template <class Archive>
  void archive(Archive& a) {
    std::size_t n = queue_.size();
    a.count(n, m_);
    a.state(m_, total_.get());
    this->archive_slots(a, n, all_entries);
  }

 private:
  Held<M> total_;
};

}  // namespace sash
