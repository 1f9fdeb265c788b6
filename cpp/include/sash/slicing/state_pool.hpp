// A growing array of states.
#pragma once

#include <cstring>
#include <memory>

#include "sash/monoid.hpp"
#include "sash/slicing/scratch.hpp"

namespace sash::slicing {

template <Monoid M>
class StatePool {
 public:
  using Cell = typename M::Cell;
  explicit StatePool(const M& m) : m_(m) {}
  StatePool(const StatePool&) = delete;
  StatePool& operator=(const StatePool&) = delete;
  ~StatePool() { clear(); }

  std::size_t size() const { return size_; }
  Cell* operator[](std::size_t i) const { return cells_.get() + i * m_.state_cells(); }
  Cell* back() const { return (*this)[size_ - 1]; }

  // One more state: the identity.
  Cell* add() {
    if (size_ == room_) grow();
    Cell* s = (*this)[size_];
    m_.start(s, m_.state_cells());
    m_.set_identity(s);
    ++size_;
    return s;
  }
  void add_many(std::size_t n) {
    while (size_ < n) add();
  }
  void pop() {
    --size_;
    m_.drop_state((*this)[size_]);
  }
  // A large pool's memory is not kept for small ones after it.
  void clear() {
    const std::size_t used = size_;
    if constexpr (M::trivial) size_ = 0;
    else
      while (size_ > 0) pop();
    if (room_ <= kRoom + 16 * used) return;
    cells_.reset();
    room_ = 0;
  }

 private:
  void grow() {
    const std::size_t room = room_ == 0 ? 16 : 2 * room_, cells = m_.state_cells();
    auto fresh = std::make_unique_for_overwrite<Cell[]>(room * cells);
    if (size_ != 0)
      std::memcpy(static_cast<void*>(fresh.get()), cells_.get(), size_ * cells * sizeof(Cell));
    cells_ = std::move(fresh);
    room_ = room;
  }
  M m_;
  std::unique_ptr<Cell[]> cells_;
  std::size_t size_ = 0, room_ = 0;
};

}  // namespace sash::slicing
