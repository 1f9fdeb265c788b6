// Frames: for each output of a rolling call, which rows its window holds.
//
// Rows are thought of in order of (key, time, arrival); a *position* is a row's place in that order,
// and each key owns a segment of positions. A frame is a range of positions [lo, hi) within one
// segment. From one output to the next of the same segment neither end goes back, so every kernel
// can follow them with a queue.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <stdexcept>
#include <vector>

#include "sash/poll.hpp"

namespace sash::rolling {

using Time = std::int64_t;
inline constexpr Time kLast = std::numeric_limits<Time>::max();

struct Frame {
  std::size_t lo, hi;
  std::size_t size() const { return hi - lo; }
};

// How far a window reaches from its row, and whether its ends belong to it.
struct Reach {
  Time before, after;
  bool closed_left, closed_right;
};

class Frames {
 public:
  // starts: where each segment begins, and the number of rows at the end.
  Frames(std::vector<std::size_t> starts, Reach reach)
      : starts_(std::move(starts)), reach_(reach) {}
  virtual ~Frames() = default;
  virtual std::size_t outputs() const { return starts_.back(); }
  std::size_t rows() const { return starts_.back(); }
  const std::vector<std::size_t>& starts() const { return starts_; }
  // How many rows up to and with its own each window holds, where it is that simple; else 0.
  virtual std::size_t trailing() const { return 0; }

  // The segment of a position.
  std::size_t segment_of(std::size_t position) const {
    const auto at = std::upper_bound(starts_.begin(), starts_.end(), position);
    return static_cast<std::size_t>(at - starts_.begin()) - 1;
  }

  // Walks the frames of outputs [from, to) in chunks: f(first, count, frames). Polls.
  template <class F>
  void each_chunk(std::size_t from, std::size_t to, F&& f) const {
    constexpr std::size_t kChunk = 1024;  // small enough for the first-level cache
    Frame frames[kChunk];
    Cursor at;
    Poll poll;
    for (; from < to; from += kChunk) {
      const std::size_t n = std::min(kChunk, to - from);
      fill(from, n, at, frames);
      f(from, n, static_cast<const Frame*>(frames));
      poll(n);
    }
  }
  Frame one(std::size_t output) const {
    Frame frame{};
    Cursor at;
    fill(output, 1, at, &frame);
    return frame;
  }

 protected:
  struct Cursor {  // where the last frame was; nothing yet: end == 0
    std::size_t begin = 0, end = 0, segment = 0, lo = 0, hi = 0;
    bool safe = false;
  };
  virtual void fill(std::size_t from, std::size_t n, Cursor& at, Frame* out) const = 0;

  // Brings the cursor to the segment of position i; true if it is another than before.
  bool enter(std::size_t i, Cursor& at) const {
    if (i < at.end) return false;
    if (at.end == 0) at.segment = segment_of(i);
    else
      while (starts_[at.segment + 1] <= i) ++at.segment;
    at.begin = starts_[at.segment];
    at.end = starts_[at.segment + 1];
    return true;
  }

  std::vector<std::size_t> starts_;
  Reach reach_;
};

// Windows by time, one for each row.
class TimeFrames final : public Frames {
 public:
  TimeFrames(const Time* times, std::vector<std::size_t> starts, Reach reach)
      : Frames(std::move(starts), reach), times_(times) {}

 private:
  // An end beyond what a time can be excludes nothing.
  static bool below(Time t, Time row, Time before, bool closed) {
    Time end;
    if (__builtin_sub_overflow(row, before, &end)) return false;
    return closed ? t < end : t <= end;
  }
  static bool within(Time t, Time row, Time after, bool closed) {
    Time end;
    if (__builtin_add_overflow(row, after, &end)) return true;
    return closed ? t <= end : t < end;
  }
  void fill(std::size_t from, std::size_t n, Cursor& at, Frame* out) const override {
    for (std::size_t i = from; i < from + n;) {
      const bool first = at.end == 0;
      if (enter(i, at)) {
        at.lo = at.hi = at.begin;
        if (first) find(i, at);
        at.safe = is_safe(at);
      }
      const std::size_t stop = std::min(from + n, at.end);
      if (at.safe) fill_safe(i, stop, at, out - from);
      else fill_any(i, stop, at, out - from);
      i = stop;
    }
  }
  // Whether no end of a window in this segment is beyond what a time can be.
  bool is_safe(const Cursor& at) const {
    Time end;
    return !__builtin_sub_overflow(times_[at.begin], reach_.before, &end) &&
           !__builtin_add_overflow(times_[at.end - 1], reach_.after, &end) && end != kLast &&
           reach_.after != kLast;
  }
  void fill_safe(std::size_t i, std::size_t stop, Cursor& at, Frame* out) const {
    const Time* times = times_;
    const std::size_t end = at.end;
    const Time back = reach_.before - (reach_.closed_left ? 0 : 1);
    const Time ahead = reach_.after + (reach_.closed_right ? 1 : 0);
    std::size_t lo = at.lo, hi = at.hi;
    for (; i < stop; ++i) {
      const Time low = times[i] - back, high = times[i] + ahead;  // low <= t < high
      // How many rows leave is hard to guess; up to three are counted without a branch.
      if (lo + 3 < end) lo += (times[lo] < low) + (times[lo + 1] < low) + (times[lo + 2] < low);
      while (lo < end && times[lo] < low) ++lo;
      if (hi < lo) hi = lo;
      while (hi < end && times[hi] < high) ++hi;
      out[i] = {lo, hi};
    }
    at.lo = lo;
    at.hi = hi;
  }
  void fill_any(std::size_t i, std::size_t stop, Cursor& at, Frame* out) const {
    const Reach r = reach_;
    for (; i < stop; ++i) {
      const Time t = times_[i];
      while (at.lo < at.end && below(times_[at.lo], t, r.before, r.closed_left)) ++at.lo;
      if (at.hi < at.lo) at.hi = at.lo;
      while (at.hi < at.end && within(times_[at.hi], t, r.after, r.closed_right)) ++at.hi;
      out[i] = {at.lo, at.hi};
    }
  }
  // The first frame of a walk that begins in the middle of a segment.
  void find(std::size_t i, Cursor& at) const {
    const Reach r = reach_;
    const Time t = times_[i];
    const Time *begin = times_ + at.begin, *end = times_ + at.end;
    const auto* lo = std::partition_point(
        begin, end, [&](Time x) { return below(x, t, r.before, r.closed_left); });
    const auto* hi = std::partition_point(
        lo, end, [&](Time x) { return within(x, t, r.after, r.closed_right); });
    at.lo = static_cast<std::size_t>(lo - times_);
    at.hi = static_cast<std::size_t>(hi - times_);
  }
  const Time* times_;
};

// Windows by count: as windows by time, had each row its position for a time.
class CountFrames final : public Frames {
 public:
  using Frames::Frames;
  std::size_t trailing() const override {
    const bool simple = reach_.after == 0 && !reach_.closed_left && reach_.closed_right;
    return simple ? static_cast<std::size_t>(std::min<Time>(reach_.before, 1u << 31)) : 0;
  }

 private:
  void fill(std::size_t from, std::size_t n, Cursor& at, Frame* out) const override {
    const auto limit = static_cast<Time>(rows()) + 1;
    const Time before = std::min(reach_.before, limit) - (reach_.closed_left ? 0 : 1);
    const Time after = std::min(reach_.after, limit) + (reach_.closed_right ? 1 : 0);
    for (std::size_t i = from; i < from + n; ++i) {
      enter(i, at);
      const auto begin = static_cast<Time>(at.begin), end = static_cast<Time>(at.end);
      const Time lo = std::clamp(static_cast<Time>(i) - before, begin, end);
      const Time hi = std::clamp(static_cast<Time>(i) + after, lo, end);
      out[i - from] = {static_cast<std::size_t>(lo), static_cast<std::size_t>(hi)};
    }
  }
};

// Frames that are given one by one, as those of windows that advance by a step.
class GivenFrames final : public Frames {
 public:
  GivenFrames(const Time* lo, const Time* hi, std::size_t n, std::vector<std::size_t> starts)
      : Frames(std::move(starts), {}), lo_(lo), hi_(hi), n_(n) {}
  std::size_t outputs() const override { return n_; }

 private:
  void fill(std::size_t from, std::size_t n, Cursor&, Frame* out) const override {
    for (std::size_t i = 0; i < n; ++i)
      out[i] = {static_cast<std::size_t>(lo_[from + i]), static_cast<std::size_t>(hi_[from + i])};
  }
  const Time *lo_, *hi_;
  std::size_t n_;
};

// The windows that advance by a step: [end - size, end) for every end that is a multiple of `every`
// (from `offset`), those that hold at least one row of their segment.
struct Steps {
  std::vector<std::int64_t> segments, ends, lo, hi;
};

class StepFrames {
 public:
  using Wide = __int128;  // an end may be beyond what a time can be: it is refused, not wrapped
  StepFrames(const Time* times, const std::vector<std::size_t>& starts, Time size, Time every,
             Time offset, bool closed_left, bool closed_right)
      : times_(times),
        starts_(starts),
        size_(size),
        every_(every),
        offset_(offset),
        left_(closed_left),
        right_(closed_right) {}

  // How many windows there are.
  Wide count() const {
    Wide n = 0;
    each_row([&](std::size_t, std::size_t, Wide from, Wide to) { n += (to - from) / every_ + 1; });
    return n;
  }
  // Throws where a window begins or ends at what is no time. Polls.
  Steps make() const {
    Steps out;
    Poll poll;
    std::size_t lo = 0, hi = 0;
    each_row([&](std::size_t segment, std::size_t, Wide from, Wide to) {
      lo = std::max(lo, starts_[segment]);
      hi = std::max(hi, lo);
      for (Wide e = from; e <= to; e += every_) {
        poll();
        if (e - size_ < std::numeric_limits<Time>::min() || e > kLast)
          throw std::overflow_error(
              "a window begins or ends beyond what 64 bits of the time column's unit can hold");
        const std::size_t end = starts_[segment + 1];
        while (lo < end && last_end(times_[lo]) < e) ++lo;
        hi = std::max(hi, lo);
        while (hi < end && first_end(times_[hi]) <= e) ++hi;
        out.segments.push_back(static_cast<std::int64_t>(segment));
        out.ends.push_back(static_cast<std::int64_t>(e));
        out.lo.push_back(static_cast<std::int64_t>(lo));
        out.hi.push_back(static_cast<std::int64_t>(hi));
      }
    });
    return out;
  }

 private:
  static Wide floor_to(Wide t, Wide every) {
    const Wide k = t / every;
    return (k * every > t ? k - 1 : k) * every;
  }
  // A row at t is in the windows whose end e is >= t (closed on the right, else > t) and whose
  // start e - size is <= t (closed on the left, else < t): from the first to the last of these.
  Wide first_end(Time t) const {
    const Wide at = static_cast<Wide>(t) - offset_ - (right_ ? 1 : 0);
    return floor_to(at, every_) + every_ + offset_;
  }
  Wide last_end(Time t) const {
    const Wide at = static_cast<Wide>(t) - offset_ + size_ - (left_ ? 0 : 1);
    return floor_to(at, every_) + offset_;
  }
  // Calls f(segment, row, from, to) for the ends that each row is the first to be in.
  template <class F>
  void each_row(F&& f) const {
    for (std::size_t s = 0; s + 1 < starts_.size(); ++s) {
      Wide done = 0;
      bool any = false;
      for (std::size_t i = starts_[s]; i < starts_[s + 1]; ++i) {
        Wide from = first_end(times_[i]);
        const Wide to = last_end(times_[i]);
        if (any) from = std::max(from, done + every_);
        if (from > to) continue;
        f(s, i, from, to);
        done = to;
        any = true;
      }
    }
  }
  const Time* times_;
  const std::vector<std::size_t>& starts_;
  Wide size_, every_, offset_;
  bool left_, right_;
};

}  // namespace sash::rolling
