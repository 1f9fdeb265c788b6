// RowBlock: a few rows in order of time, each with its marks and its state, in one array.
//
//   cost     append O(1); find O(log n); insert O(d) moves, d rows from the end
//   space    a time, the marks and a state per row; its room is even, so that states stay aligned
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <new>
#include <span>
#include <utility>

#include "sash/monoid.hpp"
#include "sash/slicing/windows.hpp"

namespace sash::slicing {

// What a row consists of: the same for all blocks of a list.
template <Monoid M>
struct RowForm {
  const M& m;
  std::size_t width;  // marks of a row
  std::size_t bytes() const {
    return (1 + width) * sizeof(Time) + m.state_cells() * sizeof(typename M::Cell);
  }
};

template <Monoid M>
class RowBlock {
 public:
  using Cell = typename M::Cell;
  using Form = RowForm<M>;
  RowBlock() = default;
  RowBlock(const Form& f, std::size_t room)
      : block_(std::make_unique_for_overwrite<std::byte[]>(room * f.bytes())),
        room_(static_cast<std::uint32_t>(room)) {}

  std::size_t size() const { return end_ - begin_; }
  std::size_t room() const { return room_; }
  Time& time(std::size_t i) const { return times()[begin_ + i]; }
  std::int64_t* marks(std::size_t width, std::size_t i) const {
    return times() + room_ + (begin_ + i) * width;
  }
  Cell* state(const Form& f, std::size_t i) const {
    return reinterpret_cast<Cell*>(times() + room_ * (1 + f.width)) +
           (begin_ + i) * f.m.state_cells();
  }
  // The number of rows before t.
  std::size_t before(Time t) const {
    if (begin_ == end_ || times()[end_ - 1] < t) return size();
    const Time* from = times() + begin_;
    return static_cast<std::size_t>(std::lower_bound(from, from + size(), t) - from);
  }

  bool has_room(std::size_t n) const { return size() + n <= room_; }
  // New rows at ascending places, counted from `first` on, each with the identity and no time yet.
  void open(const Form& f, std::span<const std::size_t> places, std::size_t first) {
    if (end_ + places.size() > room_) move_to_front(f);
    std::size_t from = size(), to = from + places.size();
    end_ += static_cast<std::uint32_t>(places.size());
    for (std::size_t k = places.size(); k-- > 0;) {
      const std::size_t at = places[k] - first, moved = to - at - 1;
      from -= moved;
      move(f, at + 1, from, moved);
      start(f, at);
      to = at;
    }
  }
  // Takes these rows out again.
  void close(const Form& f, std::span<const std::size_t> places, std::size_t first) {
    std::size_t to = places[0] - first;
    for (std::size_t k = 0; k < places.size(); ++k) {
      const std::size_t at = places[k] - first;
      const std::size_t next = k + 1 < places.size() ? places[k + 1] - first : size();
      f.m.drop_state(state(f, at));
      move(f, to, at + 1, next - at - 1);
      to += next - at - 1;
    }
    end_ = begin_ + static_cast<std::uint32_t>(to);
  }
  // n more rows at the end, as by open; n rows of another block, which are no longer there.
  void append(const Form& f, std::size_t n) {
    const std::size_t from = size();
    end_ += static_cast<std::uint32_t>(n);
    for (std::size_t i = from; i < from + n; ++i) start(f, i);
  }
  void take(const Form& f, const RowBlock& from, std::size_t at, std::size_t n) {
    if (end_ + n > room_) move_to_front(f);
    const std::size_t to = size();
    end_ += static_cast<std::uint32_t>(n);
    std::memcpy(&time(to), &from.time(at), n * sizeof(Time));
    if (f.width != 0)
      std::memcpy(marks(f.width, to), from.marks(f.width, at), n * f.width * sizeof(std::int64_t));
    std::memcpy(static_cast<void*>(state(f, to)), static_cast<const void*>(from.state(f, at)),
                n * f.m.state_cells() * sizeof(Cell));
  }
  void drop_front(const Form& f, std::size_t n) {
    if constexpr (!M::trivial)
      for (std::size_t i = 0; i < n; ++i) f.m.drop_state(state(f, i));
    begin_ += static_cast<std::uint32_t>(n);
    if (begin_ == end_) *this = {};
  }
  // A smaller array, where little of a large one is used.
  void shrink(const Form& f) {
    if (room_ <= kSmall || 8 * size() >= room_) return;
    try {
      RowBlock small(f, std::max(kSmall, std::bit_ceil(end_ - begin_) * 2));
      small.take(f, *this, 0, size());
      *this = std::move(small);
    } catch (const std::bad_alloc&) {  // it is only a saving
    }
  }

 private:
  static constexpr std::uint32_t kSmall = 64;
  void start(const Form& f, std::size_t i) {
    f.m.start(state(f, i), f.m.state_cells());
    f.m.set_identity(state(f, i));
  }
  void move(const Form& f, std::size_t to, std::size_t from, std::size_t n) {
    if (n == 0 || to == from) return;
    std::memmove(&time(to), &time(from), n * sizeof(Time));
    if (f.width != 0)
      std::memmove(marks(f.width, to), marks(f.width, from), n * f.width * sizeof(std::int64_t));
    std::memmove(static_cast<void*>(state(f, to)), static_cast<const void*>(state(f, from)),
                 n * f.m.state_cells() * sizeof(Cell));
  }
  void move_to_front(const Form& f) {
    const std::uint32_t n = end_ - begin_, from = std::exchange(begin_, 0);
    move(f, 0, from, n);
    end_ = n;
  }
  // Times, then marks, then states: finding a row and reading it touch the same memory.
  Time* times() const { return reinterpret_cast<Time*>(block_.get()); }
  std::unique_ptr<std::byte[]> block_;
  std::uint32_t begin_ = 0, end_ = 0, room_ = 0;
};

}  // namespace sash::slicing
