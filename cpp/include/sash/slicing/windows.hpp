// Which windows there are, and the edges they cut time at.
//
//   fixed     [start(k), end(k)) for k = ..., -1, 0, 1, ...: tumbling and sliding windows, computed,
//             or given as lists by a calendar. Starts and ends both ascend with k.
//   session   rows no further than `size` (the gap) from the next one
//   rolling   (t - size, t] for every time t at which there is a row
//
// Times lie in [-kReach, kReach] and lengths below kLongest, so that sums of a few do not overflow.
// A window is *due* at the first watermark that completes it: a fixed one at its end, a session one
// moment after its end (a row one gap after the last still belongs to it), a rolling one after t.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <vector>

namespace sash::slicing {

using Time = std::int64_t;
inline constexpr Time kReach = (Time{1} << 62) - 1;
inline constexpr Time kLongest = Time{1} << 60;
inline constexpr Time kEnd = kReach + 2 * kLongest;  // the watermark after the last row
inline constexpr Time kEarliest = -kReach - 1;       // the watermark before there is one
inline constexpr Time kNever = std::numeric_limits<Time>::min();
inline constexpr Time kForever = std::numeric_limits<Time>::max();

inline Time floor_to(Time t, Time step, Time offset) {
  const Time rest = (t - offset) % step;
  return t - (rest < 0 ? rest + step : rest);
}

inline std::uint64_t distance(Time from, Time to) {
  return static_cast<std::uint64_t>(to) - static_cast<std::uint64_t>(from);
}

struct Window {
  enum class Kind { periodic, listed, session, rolling };
  Kind kind;
  int id;
  Time size, slide = 1, offset = 0;
  Time since = kNever;             // registered while the stream ran: of rows from here on only
  std::vector<Time> starts, ends;  // of listed windows

  bool fixed() const { return kind == Kind::periodic || kind == Kind::listed; }

  // Fixed windows by number. The first one that ends after t:
  std::int64_t ending_after(Time t) const {
    if (kind == Kind::listed) {
      auto k = std::upper_bound(ends.begin(), ends.end(), t) - ends.begin();
      if (since != kNever)
        k = std::max(k, std::lower_bound(starts.begin(), starts.end(), since) - starts.begin());
      return k;
    }
    if (since != kNever) t = std::max(t, since + size - 1);
    return (floor_to(t - size, slide, offset) - offset) / slide + 1;
  }
  bool exists(std::int64_t k) const {
    return kind != Kind::listed || k < static_cast<std::int64_t>(starts.size());
  }
  Time start(std::int64_t k) const {
    return kind == Kind::listed ? starts[static_cast<std::size_t>(k)] : offset + k * slide;
  }
  Time end(std::int64_t k) const {
    return kind == Kind::listed ? ends[static_cast<std::size_t>(k)] : start(k) + size;
  }
  // Where a window that is due then ends, as users see it.
  Time shown_end(Time due) const { return fixed() ? due : due - 1; }
  Time shown_start(Time start) const { return kind == Kind::rolling ? start - 1 : start; }
};

// The fixed slice a time is in: [begin, end).
struct Bounds {
  Time begin = kNever, end = kForever;
};

class WindowSet {
 public:
  std::vector<Window> windows;

  Time least_gap() const { return least_gap_; }  // 0: there are no sessions
  // From here on nothing can change what has no rows after `last`. A listed window may be longer than
  // a Time can be added to; none ends after kEnd.
  Time over(Time last, Time lateness) const {
    Time end;
    if (__builtin_add_overflow(last, longest_, &end)) end = kEnd;
    return std::min(end, kEnd) + lateness + 1;
  }
  // To be called when windows have changed, or with one that was added.
  void refresh() {
    least_gap_ = longest_ = 0;
    for (const Window& w : windows) see(w);
  }
  void see(const Window& w) {
    if (w.kind == Window::Kind::session && (least_gap_ == 0 || w.size < least_gap_))
      least_gap_ = w.size;
    longest_ = std::max(longest_, w.size);
    for (std::size_t i = 0; i < w.starts.size(); ++i)
      longest_ = std::max(longest_, w.ends[i] - w.starts[i]);
  }

  Bounds bounds(Time t) const {
    Bounds b;
    each_progression(t, t, [&](Time first, Time step) {
      b.begin = std::max(b.begin, first);
      b.end = std::min(b.end, first + step);
    });
    each_single_edge([&](Time edge) {
      if (edge <= t) b.begin = std::max(b.begin, edge);
      else b.end = std::min(b.end, edge);
    });
    return b;
  }

  // The earliest end of a fixed window after t.
  Time next_end(Time t) const {
    Time next = kForever;
    for (const Window& w : windows) {
      if (!w.fixed()) continue;
      const std::int64_t k = w.ending_after(t);
      if (w.exists(k)) next = std::min(next, w.end(k));
    }
    return next;
  }

  // Slices older than this are in no fixed or rolling window that rows from `limit` on can change.
  Time needed_from(Time limit) const {
    Time from = limit;
    for (const Window& w : windows) {
      if (w.kind == Window::Kind::rolling) from = std::min(from, limit - w.size + 1);
      if (!w.fixed()) continue;
      const std::int64_t k = w.ending_after(limit);
      if (w.exists(k)) from = std::min(from, w.start(k));
    }
    return from;
  }

  // Every edge in (lo, hi], the last one <= lo and the first one > hi, in no order, some twice.
  // False when there would be more than `most` of them.
  bool edges(Time lo, Time hi, std::size_t most, std::vector<Time>& out, Bounds& ends) const {
    ends = {};
    bool few = true;
    each_progression(lo, hi, [&](Time first, Time step) {
      ends.begin = std::max(ends.begin, first);
      few = few && distance(first, hi) / static_cast<std::uint64_t>(step) <= most - out.size();
      if (!few) return;
      Time e = first + step;
      for (; e <= hi; e += step) out.push_back(e);
      ends.end = std::min(ends.end, e);
    });
    each_single_edge([&](Time edge) {
      if (edge <= lo) ends.begin = std::max(ends.begin, edge);
      else if (edge > hi) ends.end = std::min(ends.end, edge);
      else if (out.size() < most) out.push_back(edge);
      else few = false;
    });
    return few;
  }

 private:
  Time least_gap_ = 0, longest_ = 0;
  // f(the last edge <= lo, step) for the edges that are computed.
  template <class F>
  void each_progression(Time lo, Time hi, F&& f) const {
    for (const Window& w : windows) {
      if (w.kind != Window::Kind::periodic || w.since > hi) continue;
      f(floor_to(lo, w.slide, w.offset), w.slide);
      if (w.size % w.slide != 0) f(floor_to(lo, w.slide, w.offset + w.size), w.slide);
    }
  }
  template <class F>
  void each_single_edge(F&& f) const {
    for (const Window& w : windows) {
      if (w.since != kNever) f(w.since);
      for (Time t : w.starts) f(t);
      for (Time t : w.ends) f(t);
    }
  }
};

}  // namespace sash::slicing
