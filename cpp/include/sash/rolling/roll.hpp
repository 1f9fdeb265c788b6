// The rolling kernels for monoids: each output's frame, aggregated.
//
//   in event order     a queue follows both ends of the frames: amortised O(1) combines per row
//   in arrival order   a finger tree holds what has arrived, in order of time: O(log d)
//
// read(position) is the monoid's input of a row; write(output, state) takes a result, with null for
// a window of fewer than `least` rows.
#pragma once

#include "sash/rolling/frames.hpp"

namespace sash::rolling {

// Outputs [from, to) of frames over all rows of their segments.
template <class Fifo, class Cell, class Read, class Write>
void roll_event(Fifo& window, const Frames& frames, std::size_t from, std::size_t to,
                std::size_t least, Cell* out, Read&& read, Write&& write) {
  std::size_t begin = 0, end = 0;  // the positions in the window
  frames.each_chunk(from, to, [&](std::size_t first, std::size_t n, const Frame* frame) {
    for (std::size_t i = 0; i < n; ++i) {
      const Frame f = frame[i];
      if (f.lo >= end) {
        if (begin != end) window.clear();
        begin = end = f.lo;
      }
      for (; end < f.hi; ++end) window.insert(read(end));
      for (; begin < f.lo; ++begin) window.evict();
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
  frames.each_chunk(from, to, [&](std::size_t first, std::size_t n, const Frame* frame) {
    for (std::size_t i = 0; i < n; ++i) {
      const Frame f = frame[i];
      if (f.hi > block_end || f.lo >= end) {
        for (; begin < end; ++begin) set.remove(begin);
        begin = end = f.lo;
      }
      if (f.hi > block_end) {
        block_end = std::max(f.hi, std::min(frames.rows(), f.lo + set.block(f.size())));
        set.prepare(f.lo, block_end);
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
      : frames_(frames), begin_(begin), here_(end - begin), latest_(begin), lo_(begin), hi_(begin) {}

  template <class Add, class Remove>
  Frame arrive(std::size_t position, Add&& add, Remove&& remove) {
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
    return {lo_, hi_};
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
