// SliceList: the slices of one key in order of time, nothing more (the lazy Aggregate Store).
//
//   cost     append O(1); find O(log n); insert or remove O(d) moves, d slices from the end;
//            query O(slices in range) combines
//   space    a time and a state per slice, in one block; its room is even, so that states stay aligned
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <new>

#include "sash/monoid.hpp"
#include "sash/slicing/windows.hpp"

namespace sash::slicing {

template <Monoid M>
class SliceList {
 public:
  using Cell = typename M::Cell;
  // The monoid is the operator's: there is one, and many lists.
  std::size_t size() const { return end_ - begin_; }
  Time time(std::size_t i) const { return times()[begin_ + i]; }
  Cell* state(const M& m, std::size_t i) const { return cells() + (begin_ + i) * m.state_cells(); }
  // The number of slices before t.
  std::size_t before(Time t) const {
    if (begin_ == end_ || times()[end_ - 1] < t) return size();
    const Time* from = times() + begin_;
    return static_cast<std::size_t>(std::lower_bound(from, from + size(), t) - from);
  }
  // A new slice at place i; its state is the identity.
  Cell* insert(const M& m, std::size_t i, Time t) {
    if (end_ == room_) make_room(m);
    const std::size_t cells = m.state_cells(), after = size() - i;
    Cell* at = state(m, i);
    std::memmove(static_cast<void*>(at + cells), static_cast<const void*>(at),
                 after * cells * sizeof(Cell));
    Time* time = times() + begin_ + i;
    std::memmove(time + 1, time, after * sizeof(Time));
    *time = t;
    ++end_;
    m.start(at, cells);
    m.set_identity(at);
    return at;
  }
  void remove(const M& m, std::size_t i) {
    m.drop_state(state(m, i));
    const std::size_t cells = m.state_cells(), after = size() - i - 1;
    Cell* at = state(m, i);
    std::memmove(static_cast<void*>(at), static_cast<const void*>(at + cells),
                 after * cells * sizeof(Cell));
    Time* time = times() + begin_ + i;
    std::memmove(time, time + 1, after * sizeof(Time));
    --end_;
  }
  void remove_front(const M& m, std::size_t n) {
    if constexpr (!M::trivial)
      for (std::size_t i = 0; i < n; ++i) m.drop_state(state(m, i));
    begin_ += static_cast<std::uint32_t>(n);
    if (begin_ == end_) release();
    else if (room_ > kSmall && 8 * size() < room_) shrink(m);
  }
  void clear(const M& m) {
    remove_front(m, size());
    release();
  }
  void query(const M& m, Time from, Time to, Cell* out) const {
    std::size_t i = before(from);
    if (i == size() || time(i) > to) return m.set_identity(out);
    m.copy_state(out, state(m, i));
    for (++i; i < size() && time(i) <= to; ++i) m.combine(out, out, state(m, i));
  }
  std::size_t bytes(const M& m) const { return bytes(m, room_); }
  void prefetch() const { __builtin_prefetch(block_.get()); }

 private:
  static constexpr std::uint32_t kSmall = 64;
  // Room at the end: by moving to the front where half of the array is free, or by a bigger one.
  void make_room(const M& m) {
    move_to(m, size() * 2 <= room_ && room_ > 0 ? room_ : std::max(2u, 2 * room_));
  }
  void shrink(const M& m) {
    try {
      move_to(m, std::max(kSmall, std::bit_ceil(end_ - begin_) * 2));
    } catch (const std::bad_alloc&) {  // a smaller array is only a saving
    }
  }
  void move_to(const M& m, std::uint32_t room) {
    const std::size_t cells = m.state_cells(), n = size();
    auto block = std::make_unique_for_overwrite<std::byte[]>(bytes(m, room));
    if (n != 0) {
      std::memcpy(block.get(), times() + begin_, n * sizeof(Time));
      std::memcpy(block.get() + room * sizeof(Time), static_cast<const void*>(state(m, 0)),
                  n * cells * sizeof(Cell));
    }
    block_ = std::move(block);
    begin_ = 0, end_ = static_cast<std::uint32_t>(n), room_ = room;
  }
  void release() {
    block_.reset();
    begin_ = end_ = room_ = 0;
  }
  // Times, then states, in one block: finding a slice and adding to it touch the same memory.
  Time* times() const { return reinterpret_cast<Time*>(block_.get()); }
  Cell* cells() const { return reinterpret_cast<Cell*>(block_.get() + room_ * sizeof(Time)); }
  static std::size_t bytes(const M& m, std::size_t room) {
    return room * (sizeof(Time) + m.state_cells() * sizeof(Cell));
  }
  std::unique_ptr<std::byte[]> block_;
  std::uint32_t begin_ = 0, end_ = 0, room_ = 0;
};

}  // namespace sash::slicing
