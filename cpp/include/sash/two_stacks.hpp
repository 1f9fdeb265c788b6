// TwoStacks
//   order    first in, first out
//   laws     associative
//   time     query 1, insert 1, evict amortised 1 combine (worst n, at a flip)
//   space    2n partial aggregates
//   paper    In-Order Sliding-Window Aggregation in Worst-Case Constant Time, section 3
//   use      like TwoStacksLite, and the window can be iterated
//
// The two stacks lie back to back in one queue, their bottoms at the boundary B. Every element is a
// value and an aggregate of itself with all that is below it in its stack.
//
// Invariants, v_i the window's entries and B the number of elements in the front stack:
//   1. element i has value v_i;
//   2. element i < B has aggregate v_i (x) ... (x) v_{B-1};
//   3. element i >= B has aggregate v_B (x) ... (x) v_i.
#pragma once

#include "sash/fifo.hpp"

namespace sash {

template <Monoid M>
class TwoStacks : public FifoBase<M, 2> {
  using Base = FifoBase<M, 2>;
  using Base::m_, Base::queue_, Base::at, Base::agg_at;
  using typename Base::Position;

 public:
  using Cell = typename M::Cell;
  static constexpr bool keeps_values = true;
  static constexpr Holds kept = Holds::entry;

  explicit TwoStacks(M m) : Base(std::move(m)) {}
  ~TwoStacks() { clear(); }

  void insert(const typename M::In& in) {
    Cell* value = this->lift_at_end(in);
    Cell* agg = agg_at(queue_.end());
    this->guarded(
        [&] {
          if (front_ == queue_.size()) m_.to_state(agg, value);
          else push_on(agg, value);
        },
        [&] { this->drop_at_end(); });
    queue_.push_back();
  }

  void evict() {
    if (front_ == 0) [[unlikely]]
      flip();
    this->pop_front(Holds::entry);
    --front_;
  }

  void query(Cell* out) const {
    const bool front_empty = front_ == 0, back_empty = front_ == queue_.size();
    if (front_empty && back_empty) m_.set_identity(out);
    else if (front_empty) m_.copy_state(out, agg_at(youngest()));
    else if (back_empty) m_.copy_state(out, agg_at(queue_.front()));
    else m_.combine(out, agg_at(queue_.front()), agg_at(youngest()));
  }

  void clear() {
    this->drop_all(all_entries);
    front_ = 0;
  }

  std::size_t partials() const { return 2 * queue_.size(); }

  template <class F>
  void for_each(F&& f) const {
    this->walk([&](std::size_t, Position p) { f(at(p)); });
  }

  void check_invariants() const {
    queue_.check_invariants();
    Base::require(front_ <= queue_.size(), "TwoStacks: the boundary is beyond the end");
    Held<M> fold(m_);
    this->walk([&](std::size_t i, Position p) {
      if (i < front_) return;
      m_.append(fold.get(), at(p));
      Base::require(m_.same_state(fold.get(), agg_at(p)), "TwoStacks invariant 3: stale aggregate");
    });
    m_.set_identity(fold.get());
    auto p = this->position(front_);
    for (std::size_t i = front_; i-- != 0;) {
      queue_.step_back(p);
      m_.prepend(fold.get(), at(p), fold.get());
      Base::require(m_.same_state(fold.get(), agg_at(p)), "TwoStacks invariant 2: stale aggregate");
    }
  }

  template <class Archive>
  void archive(Archive& a) {
    std::size_t n = queue_.size();
    a.count(n, m_);
    a.number(front_);
    a.require(front_ <= n, "the boundary is beyond the end");
    this->archive_slots(a, n, all_entries);
  }

 private:
  auto youngest() const { return queue_.before(queue_.end()); }

  void push_on(Cell* agg, const Cell* value) {
    m_.copy_state(agg, agg_at(youngest()));
    m_.append(agg, value);
  }

  void flip() {
    if constexpr (M::nothrow) {
      auto p = youngest();
      m_.to_state(agg_at(p), at(p));
      while (!(p == queue_.front())) {
        const Cell* right = agg_at(p);
        queue_.step_back(p);
        m_.prepend(agg_at(p), at(p), right);
      }
    } else {
      this->flip_aside();
    }
    front_ = queue_.size();
  }

  std::size_t front_ = 0;
};

}  // namespace sash
