// What the in-order structures share: one queue of slots, strong exception safety, archives.
//
// A structure derives from FifoBase<M, PerElement>: each element of the window takes PerElement
// slots of the queue (Two-Stacks and DABA keep a value and an aggregate for each, the Lite variants
// one of the two).
#pragma once

#include <cstring>
#include <memory>
#include <stdexcept>
#include <utility>
#include <vector>

#include "sash/chunked_deque.hpp"
#include "sash/monoid.hpp"

namespace sash {

// A growing list of states, dropped at the end of its scope.
template <Monoid M>
class States {
 public:
  using Cell = typename M::Cell;
  explicit States(const M& m) : m_(m) {}
  States(const States&) = delete;
  States& operator=(const States&) = delete;
  ~States() {
    for (auto& s : all_) m_.drop_state(s.get());
  }
  Cell* add() {
    auto cells = std::make_unique<Cell[]>(slot_cells(m_));
    m_.start(cells.get(), slot_cells(m_));
    all_.push_back(std::move(cells));
    return all_.back().get();
  }
  std::size_t size() const { return all_.size(); }
  Cell* operator[](std::size_t i) const { return all_[i].get(); }

 private:
  const M& m_;
  std::vector<std::unique_ptr<Cell[]>> all_;
};

// Moves a state into a slot that holds nothing; the source holds nothing afterwards.
template <Monoid M>
void relocate_state(const M& m, typename M::Cell* to, typename M::Cell* from) {
  std::memcpy(static_cast<void*>(to), from, m.state_cells() * sizeof(typename M::Cell));
  m.start(from, m.state_cells());
}

template <Monoid M, std::size_t PerElement = 1, bool OnlyEntries = false>
class FifoBase {
 public:
  using Cell = typename M::Cell;
  FifoBase(const FifoBase&) = delete;
  FifoBase& operator=(const FifoBase&) = delete;

  const M& monoid() const { return m_; }
  std::size_t size() const { return queue_.size(); }
  std::size_t bytes() const { return queue_.bytes(); }

 protected:
  using Queue = ChunkedDeque<Cell, M::fixed_cells * PerElement>;
  using Position = typename Queue::Position;

  explicit FifoBase(M m) : m_(std::move(m)), queue_(element_cells()) {}

  // A structure that never keeps a state in the queue needs room for entries alone.
  std::size_t element_cells() const {
    return OnlyEntries ? m_.entry_cells() : slot_cells(m_) * PerElement;
  }

  static void require(bool holds, const char* what) {
    if (!holds) throw std::logic_error(what);
  }

  Cell* at(Position p) const { return queue_.at(p); }
  // The aggregate beside the value of an element, where each has two slots.
  Cell* agg_at(Position p) const
    requires(PerElement == 2)
  {
    return queue_.at(p) + slot_cells(m_);
  }

  // Writes the entry of `in` into the free slot at the end of the queue, which is not part of it
  // yet: whatever throws before push_back leaves the window as it was.
  Cell* lift_at_end(const typename M::In& in) {
    queue_.reserve_one();
    Cell* slot = at(queue_.end());
    m_.start(slot, element_cells());
    m_.lift(slot, in);
    return slot;
  }
  void drop_at_end() {
    m_.drop_entry(at(queue_.end()));
    if constexpr (PerElement == 2) m_.drop_state(agg_at(queue_.end()));
  }
  // Runs f; when it throws, runs undo first. Free of cost where nothing throws.
  template <class F, class Undo>
  static void guarded(F&& f, Undo&& undo) {
    if constexpr (M::nothrow) {
      f();
    } else {
      try {
        f();
      } catch (...) {
        undo();
        throw;
      }
    }
  }

  void pop_front(Holds holds) {
    drop(at(queue_.front()), holds);
    if constexpr (PerElement == 2) m_.drop_state(agg_at(queue_.front()));
    queue_.pop_front();
  }
  // Empties the queue; holds(i) tells what slot i holds.
  template <class HoldsAt>
  void drop_all(HoldsAt&& holds) {
    if constexpr (!M::trivial)
      for (std::size_t i = 0; !queue_.empty(); ++i) pop_front(holds(i));
    queue_.clear();
  }
  void drop(Cell* slot, Holds holds) {
    holds == Holds::state ? m_.drop_state(slot) : m_.drop_entry(slot);
  }

  // Turns the entries of the whole queue into suffix aggregates, all or nothing: new states are
  // computed beside the entries and replace them only when no combine can fail any more.
  void flip_aside() {
    States<M> suffixes(m_);
    for (Position p = queue_.end(); !(p == queue_.front());) {
      queue_.step_back(p);
      Cell* next = suffixes.add();
      if (suffixes.size() == 1) m_.to_state(next, at(p));
      else m_.prepend(next, at(p), suffixes[suffixes.size() - 2]);
    }
    std::size_t i = suffixes.size();
    for (Position p = queue_.front(); !(p == queue_.end()); queue_.step(p)) {
      Cell* slot = PerElement == 2 ? at(p) + slot_cells(m_) : at(p);
      drop(slot, PerElement == 2 ? Holds::state : Holds::entry);
      relocate_state(m_, slot, suffixes[--i]);
    }
  }

  template <class F>
  void walk(F&& f) const {
    std::size_t i = 0;
    for (Position p = queue_.front(); !(p == queue_.end()); queue_.step(p)) f(i++, p);
  }
  Position position(std::size_t index) const {
    Position p = queue_.front();
    while (index-- != 0) queue_.step(p);
    return p;
  }
  std::size_t index(Position wanted) const {
    std::size_t i = 0;
    for (Position p = queue_.front(); !(p == wanted); queue_.step(p)) ++i;
    return i;
  }

  // Writes or reads the queue's slots; holds(i) tells what slot i holds.
  template <class Archive, class HoldsAt>
  void archive_slots(Archive& a, std::size_t n, HoldsAt&& holds) {
    const auto one = [&](Cell* slot, Holds what) {
      what == Holds::state ? a.state(m_, slot) : a.entry(m_, slot);
    };
    if constexpr (Archive::loading) {
      for (std::size_t i = 0; i < n; ++i) {
        queue_.reserve_one();
        Cell* slot = at(queue_.end());
        m_.start(slot, element_cells());
        queue_.push_back();
        one(slot, holds(i));
        if constexpr (PerElement == 2) one(slot + slot_cells(m_), Holds::state);
      }
    } else {
      walk([&](std::size_t i, Position p) {
        one(at(p), holds(i));
        if constexpr (PerElement == 2) one(agg_at(p), Holds::state);
      });
    }
  }

  M m_;
  Queue queue_;
};

inline constexpr auto all_entries = [](std::size_t) { return Holds::entry; };

}  // namespace sash
