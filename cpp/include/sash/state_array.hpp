// Fixed-length arrays and rings of states, for the structures that address states by number.
#pragma once

#include <algorithm>
#include <bit>
#include <cstring>
#include <memory>
#include <new>
#include <utility>

#include "sash/monoid.hpp"

namespace sash {

// n started states in one block; whatever they hold is dropped at the end.
template <Monoid M>
class StateArray {
 public:
  using Cell = typename M::Cell;
  StateArray(const M& m, std::size_t n)
      : m_(&m), n_(n), cells_(std::make_unique_for_overwrite<Cell[]>(n * slot_cells(m))) {
    m.start(cells_.get(), n * slot_cells(m));
  }
  StateArray(StateArray&& o) noexcept
      : m_(o.m_), n_(std::exchange(o.n_, 0)), cells_(std::move(o.cells_)) {}
  StateArray& operator=(StateArray&& o) noexcept {
    std::swap(m_, o.m_), std::swap(n_, o.n_), std::swap(cells_, o.cells_);
    return *this;
  }
  ~StateArray() {
    if constexpr (!M::trivial)
      for (std::size_t i = 0; i < n_; ++i) m_->drop_state((*this)[i]);
  }
  std::size_t size() const { return n_; }
  std::size_t bytes() const { return n_ * slot_cells(*m_) * sizeof(Cell); }
  Cell* operator[](std::size_t i) const { return cells_.get() + i * slot_cells(*m_); }

  // Moves the state of slot `from` of another array into slot `to`, which holds nothing.
  void take(std::size_t to, StateArray& other, std::size_t from) {
    const std::size_t cells = slot_cells(*m_);
    std::memcpy(static_cast<void*>((*this)[to]), other[from], cells * sizeof(Cell));
    m_->start(other[from], cells);
  }

 private:
  const M* m_;
  std::size_t n_;
  std::unique_ptr<Cell[]> cells_;
};

// A queue of states addressed by ever growing numbers [first, last): push at last, pop at first.
// Amortised O(1): the array doubles when full and halves when a quarter is used.
template <Monoid M>
class StateRing {
 public:
  using Cell = typename M::Cell;
  explicit StateRing(const M& m) : m_(&m), slots_(m, kLeast) {}

  std::uint64_t first() const { return first_; }
  std::uint64_t last() const { return last_; }
  bool empty() const { return first_ == last_; }
  Cell* at(std::uint64_t i) const { return slots_[i & (slots_.size() - 1)]; }
  std::size_t bytes() const { return slots_.bytes(); }

  // The slot `last`, ready to be written; push_back() makes it part of the ring.
  Cell* next() {
    if (last_ - first_ == slots_.size()) resize(slots_.size() * 2);
    return at(last_);
  }
  void push_back() { ++last_; }
  void restart_at(std::uint64_t i) { first_ = last_ = i; }

  void pop_until(std::uint64_t i) {
    i = std::min(i, last_);
    if constexpr (M::trivial) first_ = std::max(first_, i);
    else
      for (; first_ < i; ++first_) m_->drop_state(at(first_));
    if (slots_.size() > kLeast && last_ - first_ < slots_.size() / 4) shrink();
  }

 private:
  static constexpr std::size_t kLeast = 8;
  void shrink() {
    try {
      resize(std::max(kLeast, std::bit_ceil((last_ - first_) * 2)));
    } catch (const std::bad_alloc&) {  // a smaller array is only a saving
    }
  }
  void resize(std::size_t capacity) {
    StateArray<M> fresh(*m_, capacity);
    for (std::uint64_t i = first_; i != last_; ++i)
      fresh.take(i & (capacity - 1), slots_, i & (slots_.size() - 1));
    slots_ = std::move(fresh);
  }

  const M* m_;
  StateArray<M> slots_;
  std::uint64_t first_ = 0, last_ = 0;
};

}  // namespace sash
