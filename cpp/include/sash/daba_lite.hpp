// DabaLite
//   order    first in, first out
//   laws     associative
//   time     query at most 1, insert at most 3 (2 on average), evict at most 2 (1) combines
//   space    n + 2 partial aggregates
//   paper    In-Order Sliding-Window Aggregation in Worst-Case Constant Time, section 6
//   use      in-order streams where every single operation must be fast
//
// Two-Stacks Lite whose flip is spread over the operations that follow it: each insert or evict
// does one step of reversing the former back list.
//
// Invariants, besides the size invariants of daba_cycle.hpp, v_i the window's entries:
//   1. slots of [F,L) hold v_i (x) ... (x) v_{B-1};     2. of [L,R): v_i (x) ... (x) v_{R-1};
//   3. of [R,A): v_i;                                   4. of [A,B): v_i (x) ... (x) v_{B-1};
//   5. of [B,E): v_i;                                   6. back = v_B (x) ... (x) v_{n-1};
//   7. L = R, or mid = v_R (x) ... (x) v_{B-1}.
#pragma once

#include "sash/daba_cycle.hpp"
#include "sash/fifo.hpp"

namespace sash {

template <Monoid M>
class DabaLite : public FifoBase<M> {
  using Base = FifoBase<M>;
  using Base::m_, Base::queue_, Base::at;
  using typename Base::Position;

 public:
  using Cell = typename M::Cell;
  static constexpr bool keeps_values = false;

  explicit DabaLite(M m) : Base(std::move(m)), mid_(m_), back_(m_), spare_(m_) {}
  ~DabaLite() { drop_slots(); }

  void insert(const typename M::In& in) {
    Cell* slot = this->lift_at_end(in);
    if constexpr (M::nothrow) {
      m_.append(back_.get(), slot);
      queue_.push_back();
      fixup(queue_.front(), queue_.size());
    } else {
      insert_guarded(slot);
    }
  }

  void evict() {
    const Places saved = at_;
    this->guarded(
        [&] {
          --at_.cycle.front;
          fixup(queue_.after(queue_.front()), queue_.size() - 1);
        },
        [&] { at_ = saved; });
    this->pop_front(Holds::state);
  }

  void query(Cell* out) const {
    if (queue_.empty()) [[unlikely]]
      m_.set_identity(out);
    else m_.combine(out, at(queue_.front()), back_.get());
  }

  void clear() {
    drop_slots();
    m_.set_identity(mid_.get());
    m_.set_identity(back_.get());
    at_.cycle = {};
  }

  std::size_t partials() const { return queue_.size() + 2; }

  void check_invariants() const {
    queue_.check_invariants();
    const DabaCycle& c = at_.cycle;
    Base::require(c.holds(queue_.size()), "DabaLite: size invariants");
    Held<M> back(m_), mid(m_);
    this->walk([&](std::size_t i, Position p) {
      if (i >= c.b()) m_.append(back.get(), at(p));
      if (i >= c.r() && i < c.a()) m_.append(mid.get(), at(p));
    });
    if (c.ready != 0) m_.combine(mid.get(), mid.get(), at(this->position(c.a())));
    Base::require(m_.same_state(back.get(), back_.get()), "DabaLite invariant 6: back is stale");
    Base::require(c.inner == 0 || !m_.exact() || m_.same_state(mid.get(), mid_.get()),
                  "DabaLite invariant 7: mid is stale");
  }

  template <class Archive>
  void archive(Archive& a) {
    std::size_t n = queue_.size();
    DabaCycle& c = at_.cycle;
    a.count(n, m_);
    a.number(c.front), a.number(c.inner), a.number(c.ready);
    a.require(c.holds(n), "the lists break the size invariants");
    a.state(m_, mid_.get());
    a.state(m_, back_.get());
    this->archive_slots(a, n, holds());
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

  // One step of the incremental reversal, for the window of n entries that starts at f. With a
  // monoid that may throw, everything that can fail comes before the first change of a slot.
  void fixup(Position f, std::size_t n) {
    switch (at_.cycle.next(n)) {
      case DabaStep::shift:
        return;
      case DabaStep::shrink:
        return shrink(mid_.get(), at(at_.a));
      case DabaStep::singleton:
        if (n != 0) m_.to_state(at(f), at(f));
        return m_.set_identity(back_.get());
      case DabaStep::flip_and_shrink:
        at_.l = f;
        at_.a = queue_.end();
        shrink(back_.get(), nullptr);
        m_.copy_state(mid_.get(), back_.get());
        m_.set_identity(back_.get());
    }
  }

  // `mid` is the aggregate of lR and lA, `ready` that of lA, or null when lA is empty.
  void shrink(const Cell* mid, const Cell* ready) {
    queue_.step_back(at_.a);
    Cell *first = at(at_.l), *last = at(at_.a);
    if constexpr (M::nothrow) {
      m_.combine(first, first, mid);
      accumulate(last, last, ready);
    } else {
      States<M> fresh(m_);
      Cell *left = fresh.add(), *right = fresh.add();
      m_.combine(left, first, mid);
      accumulate(right, last, ready);
      m_.drop_state(first);
      relocate_state(m_, first, left);
      m_.drop_entry(last);
      relocate_state(m_, last, right);
    }
    queue_.step(at_.l);
  }
  void accumulate(Cell* to, const Cell* entry, const Cell* ready) {
    if (ready == nullptr) m_.to_state(to, entry);
    else m_.prepend(to, entry, ready);
  }

  // `back` takes the new value before a flip reads it, so its old value is kept aside.
  void insert_guarded(Cell* slot) {
    const Places saved = at_;
    m_.copy_state(spare_.get(), back_.get());
    this->guarded([&] { m_.append(back_.get(), slot); }, [&] { this->drop_at_end(); });
    queue_.push_back();
    this->guarded([&] { fixup(queue_.front(), queue_.size()); },
                  [&] {
                    at_ = saved;
                    queue_.unpush_back();
                    m_.copy_state(back_.get(), spare_.get());
                    this->drop_at_end();
                  });
    m_.set_identity(spare_.get());
  }

  auto holds() const {
    return [c = at_.cycle](std::size_t i) {
      return (i >= c.r() && i < c.a()) || i >= c.b() ? Holds::entry : Holds::state;
    };
  }
  void drop_slots() { this->drop_all(holds()); }

  Places at_;
  Held<M> mid_, back_, spare_;
};

}  // namespace sash
