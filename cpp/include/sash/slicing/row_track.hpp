// RowTrack: the rows of one key for one window whose edges are rows: by count, delta, punctuation.
//
// Rows stand in order of time and arrival, each with its state and the words that say where windows
// begin and end (`marks`). Rows are known by rank: how many rows of this key came before them in
// time, those that are no longer kept included.
#pragma once

#include <bit>
#include <cmath>
#include <functional>
#include <utility>

#include "sash/slicing/outcomes.hpp"
#include "sash/slicing/row_list.hpp"
#include "sash/slicing/scratch.hpp"
#include "sash/slicing/state_pool.hpp"
#include "sash/slicing/windows.hpp"

namespace sash::slicing {

using Rank = std::int64_t;
inline constexpr Rank kNoRank = std::numeric_limits<Rank>::min();

struct RowWindow {
  enum class Kind { count, last, delta, punctuation, split };
  Kind kind;
  int id;
  Rank rows = 1, step = 1;  // count, last
  double size = 0;          // delta
  std::size_t marks = 0;    // how many columns say where it begins and ends
  Time since = kNever;      // registered while the stream ran: of rows from here on only
  // split: which of n rows begin a window, given their times and marks (n of each column in turn).
  std::function<std::vector<char>(const Time*, const std::int64_t*, std::size_t)> starts;

  bool by_count() const { return kind == Kind::count || kind == Kind::last; }
  // May one of its windows be the rows from rank lo to before hi?
  bool holds(Rank lo, Rank hi) const {
    if (kind == Kind::count) return lo % step == 0 && hi - lo == rows;
    return kind != Kind::last || lo == std::max<Rank>(0, hi - rows);
  }
};

// The rows from rank lo to before hi, which are due to be told; kForever: when more rows come.
struct Frame {
  Rank lo, hi;
  Time start, end, due;
};

struct RowSaying {
  Frame frame;
  std::int32_t revision;
  bool complete;
};

// Where a window by rows begins and ends, as users see it. Several windows may have one place, where
// many rows have one time, and rows that come late move windows to places where others were before.
using Place = std::pair<Time, Time>;  // end, start
inline Place place(const RowSaying& s) { return {s.frame.end, s.frame.start}; }

// The revisions of a track's windows: those of one place only ever rise. A row of results replaces
// an early one of its place if its revision is the next; so that of another window at a place where
// one is already leaves a number out.
struct Revisions {
  std::int32_t highest = 0;    // of places that end by `retracted_to`
  Time retracted_to = kNever;  // no window that ends later was retracted
  Time reachable_to = kNever;  // rows up to here may bring such a place back

  // Whether `revision`, the last of the one window at a place, is the highest that it had.
  bool is_highest(const Place& at, std::int32_t revision) const {
    return at.first > retracted_to || revision >= highest;
  }
  // Of a window that follows another one and was not at its place before; `crowded`: others are.
  std::int32_t of_new(const Place& at, const Place& before, std::int32_t revision, bool crowded) {
    crowded = crowded || at == before;
    return rise(at, at == before ? revision + 2 : 0, crowded ? 2 : 1);
  }
  // Of the one window at a place, with another aggregate than before.
  std::int32_t of_next(const Place& at, std::int32_t revision) { return rise(at, revision + 1, 1); }
  // A window was retracted; `top`: the highest revision of its place.
  void retract(const Place& at, std::int32_t top, Time youngest) {
    highest = std::max(highest, top);
    retracted_to = std::max(retracted_to, at.first);
    reachable_to = std::max(reachable_to, youngest);
  }
  // Rows before the limit come no more.
  void settle(Time limit) {
    if (limit <= reachable_to) return;
    highest = 0;
    retracted_to = reachable_to = kNever;
  }

  // A call has given all revisions that it gives.
  void close() { highest = std::max(highest, std::exchange(given_, 0)); }

 private:
  std::int32_t rise(const Place& at, std::int32_t least, std::int32_t step) {
    if (at.first > retracted_to) return least;
    const std::int32_t revision = std::max(least, highest + step);
    given_ = std::max(given_, revision);
    return revision;
  }
  std::int32_t given_ = 0;  // the highest of this call
};

// Aggregates of frames that move forward at both ends: Two-Stacks over ranks.
template <Monoid M>
struct Sweep {
  explicit Sweep(const M& m) : suffixes(m), back(m) {}
  StatePool<M> suffixes;  // of the rows before `middle`, the shortest first
  Held<M> back;           // of the rows from `middle` to before `end`
  Rank middle = kNoRank, end = kNoRank;
};

template <Monoid M>
class RowTrack {
 public:
  // width: the marks of a row.
  RowTrack(const M& m, std::size_t width) : rows(width), outcomes(m) {}

  RowList<M> rows;
  Rank base = 0;  // the rank of the first row kept
  Rank next = 0;  // of the first row of the first window not told; by count: the window's number
  std::vector<RowSaying> told;  // in order, those that may change
  Revisions revisions;
  Outcomes<M> outcomes;             // one for each
  Time due = kForever;              // of the first window not told, when that is known
  std::unique_ptr<Sweep<M>> sweep;  // where the last frame was; null: nowhere

  Rank end() const { return base + static_cast<Rank>(rows.size()); }
  Time time(Rank r) const { return rows.time(static_cast<std::size_t>(r - base)); }
  const std::int64_t* marks(Rank r) const { return rows.marks(static_cast<std::size_t>(r - base)); }

  void drop_before(const M& m, Rank r) {
    const auto n = static_cast<std::size_t>(std::clamp<Rank>(r - base, 0, end() - base));
    // Not for every few: what is left may have to move.
    if (n == 0 || n * 2 < rows.size()) return;
    rows.remove_front(m, n);
    base += static_cast<Rank>(n);
  }
  // When there is something to do: a window to be told, or what was told to be forgotten.
  Time next_due(Time lateness) const {
    if (told.empty() || told.back().frame.due == kForever || (told.size() == 1 && is_followed()))
      return due;
    return std::min(due, settled_at(told.back()) + lateness);
  }
  // Windows due by the limit are settled. One that ends there waits: a row of that time may make
  // another one at its place, which has to know its revision.
  static Time settled_at(const RowSaying& s) { return std::max(s.frame.due, s.frame.end + 1); }
  std::size_t settled(Time limit) const {
    std::size_t n = 0;
    while (n < told.size() && told[n].frame.due != kForever && settled_at(told[n]) <= limit) ++n;
    return n;
  }
  // Whether the next window may be at the place of the last one told, by rows that are there: it has
  // to know that one's revision, however late it is told.
  bool is_followed() const {
    const Rank r = told.back().frame.hi;
    return next == r && r < end() && time(r) == told.back().frame.end;
  }
  void settle(Time limit) {
    std::size_t n = settled(limit);
    revisions.settle(limit);
    if (n != 0 && n == told.size() && is_followed()) --n;
    // Not for every few: what is left has to move.
    if (n == 0 || (n < told.size() && n * 2 < told.size())) return;
    told.erase(told.begin(), told.begin() + static_cast<std::ptrdiff_t>(n));
    give_back(told);
    outcomes.drop_front(n);
  }
  bool empty() const { return rows.size() == 0 && told.empty(); }
};

// Where the windows of a track begin and end, from one of them on.
template <Monoid M>
class Frames {
 public:
  Frames(const RowWindow& w, const RowTrack<M>& track) : w_(w), track_(track) {}

  // Calls f(frame) for each window in turn, from number `from` (by count) or the window that begins
  // at rank `from`, until it returns false. An open one, with no end yet, has due kForever.
  template <class F>
  void each(Rank from, F&& f) const {
    if (w_.kind == RowWindow::Kind::count) {
      for (Rank j = from; j * w_.step + w_.rows <= track_.end(); ++j)
        if (!f(counted(j * w_.step, j * w_.step + w_.rows))) return;
    } else if (w_.kind == RowWindow::Kind::last) {
      for (Rank i = from; i < track_.end(); ++i)
        if (!f(counted(std::max<Rank>(0, i - w_.rows + 1), i + 1))) return;
    } else {
      each_cut(from, f);
    }
  }
  // Where `each` has to begin again when the row of this rank is new, given the windows told.
  Rank again(const RowSaying& affected) const {
    if (w_.kind == RowWindow::Kind::count) return affected.frame.lo / w_.step;
    if (w_.kind == RowWindow::Kind::last) return affected.frame.hi - 1;
    return affected.frame.lo;
  }
  Rank after(const Frame& f) const {
    if (w_.kind == RowWindow::Kind::count) return f.lo / w_.step + 1;
    return f.hi;
  }
  // The first rank that windows from `next` on need.
  Rank needed(Rank next) const {
    if (w_.kind == RowWindow::Kind::count) return next * w_.step;
    if (w_.kind == RowWindow::Kind::last) return std::max<Rank>(0, next - w_.rows + 1);
    return next;
  }

 private:
  Frame counted(Rank lo, Rank hi) const {
    return {lo, hi, track_.time(lo), track_.time(hi - 1), track_.time(hi - 1)};
  }
  Frame cut(Rank lo, Rank hi, Time due) const {
    return {lo, hi, track_.time(lo), track_.time(hi - 1), due};
  }
  template <class F>
  void each_cut(Rank lo, F& f) const {
    const Rank end = track_.end();
    if (lo >= end) return;
    std::vector<char> starts;
    if (w_.kind == RowWindow::Kind::split) starts = asked(lo);
    Rank first = lo;
    double at = delta(lo);
    for (Rank r = lo + 1; r < end; ++r) {
      bool begins = false;
      if (w_.kind == RowWindow::Kind::split) begins = starts[static_cast<std::size_t>(r - lo)] != 0;
      else if (w_.kind == RowWindow::Kind::punctuation) begins = value(r - 1) != 0;
      else begins = std::abs(delta(r) - at) >= w_.size;
      if (begins || at != at) at = delta(r);  // NaN is a null: the next value counts
      if (!begins) continue;
      const bool ended = w_.kind == RowWindow::Kind::punctuation;
      if (!f(cut(first, r, track_.time(ended ? r - 1 : r)))) return;
      first = r;
    }
    const bool over = w_.kind == RowWindow::Kind::punctuation && value(end - 1) != 0;
    f(cut(first, end, over ? track_.time(end - 1) : kForever));
  }
  std::int64_t value(Rank r) const { return track_.marks(r)[0]; }
  double delta(Rank r) const {
    return w_.kind == RowWindow::Kind::delta ? std::bit_cast<double>(value(r)) : 0;
  }
  std::vector<char> asked(Rank lo) const {
    const auto n = static_cast<std::size_t>(track_.end() - lo);
    std::vector<Time> times(n);
    std::vector<std::int64_t> marks(n * w_.marks);
    for (std::size_t i = 0; i < n; ++i) {
      const Rank r = lo + static_cast<Rank>(i);
      times[i] = track_.time(r);
      for (std::size_t c = 0; c < w_.marks; ++c) marks[c * n + i] = track_.marks(r)[c];
    }
    return w_.starts(times.data(), marks.data(), n);
  }
  const RowWindow& w_;
  const RowTrack<M>& track_;
};

}  // namespace sash::slicing
