// TwoStacksLite
//   order    first in, first out
//   laws     associative
//   time     query 1, insert 1, evict amortised 1 combine (worst n, at a flip)
//   space    n + 1 partial aggregates
//   paper    In-Order Sliding-Window Aggregation in Worst-Case Constant Time, section 4
//   use      the fastest on average for in-order streams
//
// One queue with a boundary B. Left of B each slot holds the aggregate from itself up to B; right
// of it the plain entries, whose aggregate is `back`. When the left part runs out, a flip turns all
// entries into suffix aggregates in place.
//
// Invariants, v_i the window's entries and B the number of slots in the front part:
//   1. slot i < B holds v_i (x) ... (x) v_{B-1};
//   2. slot i >= B holds v_i;
//   3. back = v_B (x) ... (x) v_{n-1}.
#pragma once

#include "sash/fifo.hpp"

namespace sash {

template <Monoid M>
class TwoStacksLite : public FifoBase<M> {
  using Base = FifoBase<M>;
  using Base::m_, Base::queue_, Base::at;
  using typename Base::Position;

 public:
  using Cell = typename M::Cell;
  static constexpr bool keeps_values = false;

  explicit TwoStacksLite(M m) : Base(std::move(m)), back_(m_) {}
  ~TwoStacksLite() { drop_slots(); }

  void insert(const typename M::In& in) {
    Cell* slot = this->lift_at_end(in);
    this->guarded([&] { m_.append(back_.get(), slot); }, [&] { this->drop_at_end(); });
    queue_.push_back();
  }

  void evict() {
    if (front_ == 0) [[unlikely]]
      flip();
    this->pop_front(Holds::state);
    --front_;
  }

  void query(Cell* out) const {
    if (front_ == 0) [[unlikely]]
      m_.copy_state(out, back_.get());
    else m_.combine(out, at(queue_.front()), back_.get());
  }

  void clear() {
    drop_slots();
    m_.set_identity(back_.get());
    front_ = 0;
  }

  std::size_t partials() const { return queue_.size() + 1; }

  void check_invariants() const {
    queue_.check_invariants();
    Base::require(front_ <= queue_.size(), "TwoStacksLite: the boundary is beyond the end");
    Held<M> fold(m_);
    this->walk([&](std::size_t i, Position p) {
      if (i >= front_) m_.append(fold.get(), at(p));
    });
    Base::require(m_.same_state(fold.get(), back_.get()),
                  "TwoStacksLite invariant 3: back is stale");
  }

  template <class Archive>
  void archive(Archive& a) {
    std::size_t n = queue_.size();
    a.count(n, m_);
    a.number(front_);
    a.require(front_ <= n, "the boundary is beyond the end");
    a.state(m_, back_.get());
    this->archive_slots(a, n, holds());
  }

 private:
  auto holds() const {
    return [this](std::size_t i) { return i < front_ ? Holds::state : Holds::entry; };
  }
  void drop_slots() { this->drop_all(holds()); }

  void flip() {
    if constexpr (M::nothrow) {
      auto p = queue_.before(queue_.end());
      m_.to_state(at(p), at(p));
      while (!(p == queue_.front())) {
        const Cell* right = at(p);
        queue_.step_back(p);
        m_.prepend(at(p), at(p), right);
      }
    } else {
      this->flip_aside();
    }
    front_ = queue_.size();
    m_.set_identity(back_.get());
  }

  std::size_t front_ = 0;
  Held<M> back_;
};

}  // namespace sash
