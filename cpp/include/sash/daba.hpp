// Daba
//   order    first in, first out
//   laws     associative
//   time     query at most 1, insert at most 4 (2.5 on average), evict at most 3 (1.5) combines
//   space    2n partial aggregates
//   paper    In-Order Sliding-Window Aggregation in Worst-Case Constant Time, section 5
//   use      like DabaLite, and the window can be iterated
//
// Each element is a value and an aggregate over part of the list it is in.
//
// Invariants, besides the size invariants of daba_cycle.hpp, v_i the window's entries:
//   1. element i has value v_i; its aggregate is
//   2. in [F,L): v_i (x) ... (x) v_{B-1};        3. in [L,R): v_i (x) ... (x) v_{R-1};
//   4. in [R,A): v_R (x) ... (x) v_i;            5. in [A,B): v_i (x) ... (x) v_{B-1};
//   6. in [B,E): v_B (x) ... (x) v_i.
#pragma once

#include "sash/daba_cycle.hpp"
#include "sash/fifo.hpp"

namespace sash {

template <Monoid M>
class Daba : public FifoBase<M, 2> {
  using Base = FifoBase<M, 2>;
  using Base::m_, Base::queue_, Base::at, Base::agg_at;
  using typename Base::Position;

 public:
  using Cell = typename M::Cell;
  static constexpr bool keeps_values = true;
  static constexpr Holds kept = Holds::entry;

  explicit Daba(M m) : Base(std::move(m)) {}
  ~Daba() { this->drop_all(all_entries); }

  void insert(const typename M::In& in) {
    Cell* value = this->lift_at_end(in);
    Cell* agg = agg_at(queue_.end());
    const Places saved = at_;
    bool pushed = false;
    this->guarded(
        [&] {
          push_aggregate(agg, value);
          queue_.push_back();
          pushed = true;
          fixup(queue_.front(), queue_.size());
        },
        [&] {
          at_ = saved;
          if (pushed) queue_.unpush_back();
          this->drop_at_end();
        });
  }

  void evict() {
    const Places saved = at_;
    this->guarded(
        [&] {
          --at_.cycle.front;
          fixup(queue_.after(queue_.front()), queue_.size() - 1);
        },
        [&] { at_ = saved; });
    this->pop_front(Holds::entry);
  }

  void query(Cell* out) const {
    if (queue_.empty()) m_.set_identity(out);
    else if (back_empty()) m_.copy_state(out, agg_at(queue_.front()));
    else m_.combine(out, agg_at(queue_.front()), agg_at(queue_.before(queue_.end())));
  }

  void clear() {
    this->drop_all(all_entries);
    at_.cycle = {};
  }

  std::size_t partials() const { return 2 * queue_.size(); }

  template <class F>
  void for_each(F&& f) const {
    this->walk([&](std::size_t, Position p) { f(at(p)); });
  }

  void check_invariants() const {
    queue_.check_invariants();
    const DabaCycle& c = at_.cycle;
    const std::size_t n = queue_.size();
    Base::require(c.holds(n), "Daba: size invariants");
    if (!m_.exact()) return;
    check_suffixes(0, c.l(), c.b());
    check_suffixes(c.l(), c.r(), c.r());
    check_prefixes(c.r(), c.a());
    check_suffixes(c.a(), c.b(), c.b());
    check_prefixes(c.b(), n);
  }

  template <class Archive>
  void archive(Archive& a) {
    std::size_t n = queue_.size();
    DabaCycle& c = at_.cycle;
    a.count(n, m_);
    a.number(c.front), a.number(c.inner), a.number(c.ready);
    a.require(c.holds(n), "the lists break the size invariants");
    this->archive_slots(a, n, all_entries);
    if constexpr (Archive::loading) {
      at_.l = this->position(c.l());
      at_.a = this->position(c.a());
    }
  }

 private:
  struct Places {
    DabaCycle cycle;
    Position l{}, a{};  // the first of lL and the first of lA; read only while lL is not empty
  };

  bool back_empty() const { return at_.cycle.front == queue_.size(); }

  void push_aggregate(Cell* agg, const Cell* value) {
    if (back_empty()) return m_.to_state(agg, value);
    m_.copy_state(agg, agg_at(queue_.before(queue_.end())));
    m_.append(agg, value);
  }

  void fixup(Position f, std::size_t n) {
    switch (at_.cycle.next(n)) {
      case DabaStep::singleton:
      case DabaStep::shift:
        return;
      case DabaStep::shrink:
        return shrink(agg_at(at_.a));
      case DabaStep::flip_and_shrink:
        at_.l = f;
        at_.a = queue_.end();
        shrink(nullptr);
    }
  }

  // `ready` is the aggregate of lA, or null when it is empty.
  void shrink(const Cell* ready) {
    queue_.step_back(at_.a);
    Cell *first = agg_at(at_.l), *last = agg_at(at_.a);
    if constexpr (M::nothrow) {
      reverse(first, first, last, ready);
      accumulate(last, ready);
    } else {
      States<M> fresh(m_);
      Cell *left = fresh.add(), *right = fresh.add();
      reverse(left, first, last, ready);
      accumulate(right, ready);
      m_.drop_state(first);
      relocate_state(m_, first, left);
      m_.drop_state(last);
      relocate_state(m_, last, right);
    }
    queue_.step(at_.l);
  }
  void reverse(Cell* to, const Cell* first, const Cell* last, const Cell* ready) {
    m_.combine(to, first, last);
    if (ready != nullptr) m_.combine(to, to, ready);
  }
  void accumulate(Cell* to, const Cell* ready) {
    if (ready != nullptr) m_.prepend(to, at(at_.a), ready);
    else m_.to_state(to, at(at_.a));
  }

  void check_suffixes(std::size_t from, std::size_t to, std::size_t end) const {
    Held<M> fold(m_);
    auto p = this->position(end);
    for (std::size_t i = end; i-- != from;) {
      queue_.step_back(p);
      m_.prepend(fold.get(), at(p), fold.get());
      Base::require(i >= to || m_.same_state(fold.get(), agg_at(p)),
                    "Daba invariants 2, 3, 5: stale suffix aggregate");
    }
  }
  void check_prefixes(std::size_t from, std::size_t to) const {
    Held<M> fold(m_);
    auto p = this->position(from);
    for (std::size_t i = from; i < to; ++i, queue_.step(p)) {
      m_.append(fold.get(), at(p));
      Base::require(m_.same_state(fold.get(), agg_at(p)),
                    "Daba invariants 4, 6: stale prefix aggregate");
    }
  }

  Places at_;
};

}  // namespace sash
