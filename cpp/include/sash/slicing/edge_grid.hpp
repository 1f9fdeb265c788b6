// EdgeGrid: which slice a time of this batch falls into, in constant time and any order.
//
// All edges between the earliest and the latest time are laid out once; a table over equal cells of
// time says where to start looking. Sessions add edges of their own: two rows in one stretch of
// (gap + 1) moments are no further than a gap apart, so a slice that short is in one session.
#pragma once

#include <bit>

#include "sash/slicing/scratch.hpp"
#include "sash/slicing/windows.hpp"

namespace sash::slicing {

class EdgeGrid {
 public:
  // False when time is cut much finer than there are rows: sort the rows instead.
  bool build(const WindowSet& windows, Time lo, Time hi, std::size_t rows) {
    const std::size_t most = 4 * rows + 64;
    drain(edges_), drain(fixed_), drain(due_), drain(cells_);
    Bounds ends;
    if (!windows.edges(lo, hi, most, edges_, ends)) return false;
    std::sort(edges_.begin(), edges_.end());
    edges_.erase(std::unique(edges_.begin(), edges_.end()), edges_.end());
    fixed_.assign(1, ends);
    fixed_.back().end = edges_.empty() ? ends.end : edges_.front();
    for (std::size_t i = 0; i < edges_.size(); ++i)
      fixed_.push_back({edges_[i], i + 1 < edges_.size() ? edges_[i + 1] : ends.end});
    if (const Time gap = windows.least_gap(); gap != 0 && !add_ticks(lo, hi, gap + 1, most))
      return false;
    edges_.insert(edges_.begin(), lo);
    edges_.push_back(hi + 1);
    lay_cells(lo, hi);
    due_.assign(fixed_.size(), kNever);
    return true;
  }
  std::size_t slices() const { return fixed_.size(); }
  // lo <= t <= hi
  std::size_t slice(Time t) const {
    std::size_t i = cells_[distance(edges_[0], t) >> shift_];
    while (t >= edges_[i + 1]) ++i;
    return i;
  }
  // The fixed slice that slice i is (a part of).
  const Bounds& bounds(std::size_t i) const { return fixed_[i]; }
  // The first end of a window after the slice begins and after the watermark, found once.
  Time due(std::size_t i, const WindowSet& windows, Time watermark) {
    if (due_[i] == kNever) due_[i] = windows.next_end(std::max(fixed_[i].begin, watermark));
    return due_[i];
  }

 private:
  bool add_ticks(Time lo, Time hi, Time tick, std::size_t most) {
    const Time first = floor_to(lo, tick, 0) + tick;
    if (first > hi) return true;
    if (distance(first, hi) / static_cast<std::uint64_t>(tick) > most) return false;
    std::vector<Time> all;
    std::vector<Bounds> fixed{fixed_[0]};
    std::size_t i = 0;  // of edges_
    for (Time t = first; t <= hi || i < edges_.size();) {
      const bool edge = i < edges_.size() && (t > hi || edges_[i] <= t);
      const Time at = edge ? edges_[i] : t;
      if (edge) ++i;
      if (at == t) t += tick;
      all.push_back(at);
      fixed.push_back(fixed_[i]);
    }
    edges_ = std::move(all);
    fixed_ = std::move(fixed);
    return true;
  }
  void lay_cells(Time lo, Time hi) {
    const std::uint64_t range = distance(lo, hi);
    shift_ = 0;
    while ((range >> shift_) >= 4 * edges_.size()) ++shift_;
    cells_.resize((range >> shift_) + 1);
    std::size_t i = 0;
    for (std::size_t c = 0; c < cells_.size(); ++c) {
      const Time begin = lo + static_cast<Time>(static_cast<std::uint64_t>(c) << shift_);
      while (begin >= edges_[i + 1]) ++i;
      cells_[c] = static_cast<std::uint32_t>(i);
    }
  }
  std::vector<Time> edges_;    // lo, the edges inside, hi + 1
  std::vector<Bounds> fixed_;  // by slice
  std::vector<Time> due_;      // by slice; kNever: not asked yet
  std::vector<std::uint32_t> cells_;
  int shift_ = 0;
};

}  // namespace sash::slicing
