// The rolling kernels: each output's frame, aggregated.
//
//   roll_column   event order: Two-Stacks over a column, amortised O(1) combines per row
//   roll_trailing the same for windows of the last so many rows
//   roll_event    event order through an in-order structure, where states are big or Python's
//   Arrivals      arrival order: what has arrived and is in the window; a finger tree holds it
//
// read(position) is the monoid's input of a row; write(output, state) takes a result, with null for
// a window of fewer than `least` rows.
#pragma once

#include <memory>

#include "sash/big_pages.hpp"
#include "sash/monoid.hpp"
#include "sash/rolling/frames.hpp"

namespace sash::rolling {

// A state that a loop works on: its own copy where states are small and fixed, else the given one.
template <Monoid M>
class Local {
 public:
  using Cell = typename M::Cell;
  Local(const M&, Cell* given) : given_(given) {
    if constexpr (copied) own_ = *given;
  }
  Cell* get() {
    if constexpr (copied) return &own_;
    else return given_;
  }
  void keep(Cell* to) const {
    if constexpr (copied) *to = own_;
  }

 private:
  static constexpr bool copied = M::fixed_cells == 1 && M::trivial;
  struct None {};
  [[no_unique_address]] std::conditional_t<copied, Cell, None> own_;
  Cell* given_;
};

// suffixes[p - begin] := v_p (x) ... (x) v_{end-1} for all p of [begin, end).
template <Monoid M, class Read>
void fold_back(const M& m, typename M::Cell* suffixes, std::size_t begin, std::size_t end,
               typename M::Cell* entry, typename M::Cell* state, Poll& poll, Read&& read) {
  const std::size_t stride = slot_cells(m);
  Local<M> in(m, entry), running(m, state);
  m.set_identity(running.get());
  for (std::size_t stop = end; stop > begin;) {
    std::size_t p = stop;
    stop = p - begin > Poll::pace.block ? p - Poll::pace.block : begin;
    while (p-- > stop) {
      m.lift(in.get(), read(p));
      m.prepend(running.get(), in.get(), running.get());
      m.copy_state(suffixes + (p - begin) * stride, running.get());
    }
    if (stop > begin) poll(Poll::pace.block);
  }
}

// Whether there are so many rows from here to there that taking them in, or out, is polled.
inline bool far(std::size_t here, std::size_t there) { return there > here + Poll::pace.block; }

// Two-Stacks whose queue is the column itself: only the suffix aggregates of the front part are
// kept, and however many rows leave at once, the front moves on by one addition.
//
// Invariants, v_p the rows of the window [begin, end):
//   1. suffix(p), begin <= p < boundary, is v_p (x) ... (x) v_{boundary-1};
//   2. back is v_boundary (x) ... (x) v_{end-1}.
template <Monoid M, class Read, class Write>
void roll_column(const M& m, const Frames& frames, std::size_t from, std::size_t to,
                 std::size_t least, Read&& read, Write&& write) {
  static_assert(M::nothrow);
  using Cell = typename M::Cell;
  const std::size_t stride = slot_cells(m);
  Held<M> back(m), out(m), entry(m);
  std::unique_ptr<Cell[]> suffixes;
  std::size_t room = 0, base = 0, boundary = 0, end = 0;
  Poll poll;
  const auto flip = [&](std::size_t begin) {
    if (end - begin > room) {
      room = end - begin + (end - begin) / 4;
      suffixes = big_array<Cell>(room * stride);
    }
    base = begin;
    boundary = end;
    fold_back(m, suffixes.get(), begin, end, entry.get(), out.get(), poll, read);
  };
  frames.each_chunk(from, to, [&](std::size_t first, std::size_t n, const Frame* frame) {
    // What changes with every row is kept in local variables, and so in registers.
    Local<M> in(m, entry.get()), running(m, back.get()), result(m, out.get());
    const auto append_until = [&](std::size_t hi) {
      for (; end < hi; ++end) {
        m.lift(in.get(), read(end));
        m.append(running.get(), in.get());
      }
    };
    const auto move_to = [&](const Frame& f) {
      if (f.lo < end) return;
      boundary = end = f.lo;
      m.set_identity(running.get());
    };
    const bool jumps = far(std::max(end, frame[0].lo), frame[n - 1].hi);
    for (std::size_t i = 0; i < n;) {
      std::size_t stop = n;
      if (jumps) [[unlikely]] {  // then one by one, most rows of each in advance
        stop = i + 1;
        move_to(frame[i]);
        for (; far(end, frame[i].hi); poll(Poll::pace.block)) append_until(end + Poll::pace.block);
      }
      for (; i < stop; ++i) {
        const Frame f = frame[i];
        move_to(f);
        append_until(f.hi);
        if (f.size() < least) {
          write(first + i, static_cast<const Cell*>(nullptr));
          continue;
        }
        if (f.lo >= boundary) [[unlikely]] {
          if (f.lo >= end) {
            write(first + i, static_cast<const Cell*>(running.get()));  // an empty window
            continue;
          }
          flip(f.lo);
          m.set_identity(running.get());
        }
        m.combine(result.get(), suffixes.get() + (f.lo - base) * stride, running.get());
        write(first + i, static_cast<const Cell*>(result.get()));
      }
    }
    running.keep(back.get());
  });
}

// The same for windows of the last `size` rows. The rows are taken in blocks of that length: a window
// is a suffix of one block and a prefix of the next. While one loop goes forward through a block, it
// goes backward through the same one for the suffixes that the next needs: two chains of combines
// that do not wait for each other.
template <Monoid M, class Read, class Write>
void roll_trailing(const M& m, const Frames& frames, std::size_t size, std::size_t from,
                   std::size_t to, std::size_t least, Read&& read, Write&& write) {
  static_assert(M::nothrow && M::trivial && M::fixed_cells == 1);
  using Cell = typename M::Cell;
  const std::size_t room = std::min(size, frames.rows());
  auto suffixes = big_array<Cell>(room), coming = big_array<Cell>(room);
  Cell forward, backward, in, out;
  Poll poll;
  std::size_t left = Poll::pace.block;  // rows until the next poll
  while (from < to) {
    const std::size_t segment = frames.segment_of(from), first = frames.starts()[segment];
    const std::size_t end = std::min(to, frames.starts()[segment + 1]);
    std::size_t base = from - first < size ? first : from - size + 1;
    fold_back(m, suffixes.get(), base, from, &in, &out, poll, read);
    for (; from < end; base = from, from += std::min(size, end - from)) {
      const std::size_t n = std::min(size, end - from);
      const bool more = from + n < end;
      m.set_identity(&forward);
      m.set_identity(&backward);
      for (std::size_t j = 0; j < n;) {
        const std::size_t stop = j + std::min(n - j, left);
        left -= stop - j;
        for (; j < stop; ++j) {
          const std::size_t i = from + j;
          const std::size_t begin = i - first < size ? first : i - size + 1;
          m.lift(&in, read(i));
          m.append(&forward, &in);
          if (i - begin + 1 < least) {
            write(i, static_cast<const Cell*>(nullptr));
          } else if (begin < from) {
            m.combine(&out, suffixes.get() + (begin - base), &forward);
            write(i, static_cast<const Cell*>(&out));
          } else {
            write(i, static_cast<const Cell*>(&forward));
          }
          if (more) {
            const std::size_t p = n - 1 - j;
            m.lift(&in, read(from + p));
            m.prepend(&backward, &in, &backward);
            coming[p] = backward;
          }
        }
        if (left == 0) [[unlikely]] {
          left = Poll::pace.block;
          poll(left);
        }
      }
      std::swap(suffixes, coming);
    }
  }
}

// Outputs [from, to) of frames over all rows of their segments.
template <class Fifo, class Cell, class Read, class Write>
void roll_event(Fifo& window, const Frames& frames, std::size_t from, std::size_t to,
                std::size_t least, Cell* out, Read&& read, Write&& write) {
  std::size_t begin = 0, end = 0;  // the positions in the window
  Poll poll;
  frames.each_chunk(from, to, [&](std::size_t first, std::size_t n, const Frame* frame) {
    for (std::size_t i = 0; i < n; ++i) {
      const Frame f = frame[i];
      if (f.lo >= end) {
        if (begin != end) window.clear();
        begin = end = f.lo;
      }
      for (; end < f.hi; ++end, poll()) window.insert(read(end));
      for (; begin < f.lo; ++begin, poll()) window.evict();
      if (f.size() < least) {
        write(first + i, static_cast<const Cell*>(nullptr));
      } else {
        window.query(out);
        write(first + i, static_cast<const Cell*>(out));
      }
    }
  });
}

// The same for a set of rows, which is told of each that comes and goes. It knows the rows of one
// block at a time: prepare(begin, end) empties it for those of the next.
template <class Set, class Write>
void roll_event_set(Set& set, const Frames& frames, std::size_t from, std::size_t to,
                    std::size_t least, Write&& write) {
  std::size_t begin = 0, end = 0, block_end = 0;
  Poll poll;
  const auto remove_until = [&](std::size_t lo) {
    for (; far(begin, lo); poll(Poll::pace.block))
      for (std::size_t stop = begin + Poll::pace.block; begin < stop; ++begin) set.remove(begin);
    for (; begin < lo; ++begin) set.remove(begin);
  };
  frames.each_chunk(from, to, [&](std::size_t first, std::size_t n, const Frame* frame) {
    const bool jumps = far(begin, frame[n - 1].lo) || far(end, frame[n - 1].hi);
    for (std::size_t i = 0; i < n; ++i) {
      const Frame f = frame[i];
      if (f.hi > block_end || f.lo >= end) {
        remove_until(end);
        begin = end = f.lo;
      }
      if (f.hi > block_end) {
        block_end = std::max(f.hi, std::min(frames.rows(), f.lo + set.block(f.size())));
        set.prepare(f.lo, block_end);
      }
      if (jumps) [[unlikely]] {
        remove_until(std::min(f.lo, end));
        for (; end < f.hi; ++end, poll()) set.add(end);
      }
      for (; end < f.hi; ++end) set.add(end);
      for (; begin < f.lo; ++begin) set.remove(begin);
      write(first + i, f.size() >= least);
    }
  });
}

// Which rows of one segment have arrived and are in the window of the latest of them. Calls
// add(position) and remove(position) as rows come and go; positions leave in ascending order.
class Arrivals {
 public:
  Arrivals(const Frames& frames, std::size_t begin, std::size_t end)
      : frames_(frames),
        begin_(begin),
        here_(end - begin),
        latest_(begin),
        lo_(begin),
        hi_(begin) {}

  template <class Add, class Remove>
  void arrive(std::size_t position, Add&& add, Remove&& remove) {
    const bool moves = !any_ || position > latest_;
    here_[position - begin_] = 1;
    if (moves) {
      any_ = true;
      latest_ = position;
      const Frame f = frames_.one(position);
      for (; lo_ < f.lo; ++lo_)
        if (lo_ < hi_ && present(lo_)) remove(lo_), --size_;
      hi_ = std::max(hi_, lo_);
      for (; hi_ < f.hi; ++hi_)
        if (present(hi_) && hi_ != position) add(hi_), ++size_;
    }
    if (position >= lo_ && position < hi_) add(position), ++size_;
  }
  std::size_t size() const { return size_; }

 private:
  bool present(std::size_t p) const { return here_[p - begin_] != 0; }
  const Frames& frames_;
  std::size_t begin_;
  std::vector<char> here_;
  std::size_t latest_, lo_, hi_, size_ = 0;
  bool any_ = false;
};

}  // namespace sash::rolling
