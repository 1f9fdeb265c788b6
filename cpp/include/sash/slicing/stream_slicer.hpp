// The Stream Slicer: cuts a batch of rows into slices and folds each slice's rows (Scotty, III, IV).
//
// What comes out is, for each key, its slices of this batch in order of time. Nothing of the store
// is read or changed here. A slice ends where a fixed window starts or ends; at a gap wider than the
// smallest session gap; and, when the order of rows matters inside a slice (`by_time`: aggregates
// that are not commutative, windows that end at every row), with every moment.
//
// Two ways to the same slices:
//   scattered   rows stay as they arrived; an EdgeGrid finds the slice of each, in constant time
//   sorted      the rows of each key in order of time, one slice after the other
#pragma once

#include "sash/poll.hpp"
#include "sash/slicing/edge_grid.hpp"
#include "sash/slicing/row_order.hpp"
#include "sash/slicing/state_pool.hpp"

namespace sash::slicing {

struct Slice {
  Bounds fixed;
  Time first, last;  // of its rows
  Time due;          // the earliest watermark that may complete a fixed window with it
};
struct KeySlices {
  std::uint32_t key;
  std::size_t from, to;  // of slices
};

// Which rows come at all. Those before `limit` are too late; with a derived watermark the limit
// follows the latest time so far, row by row.
struct Admission {
  Time limit = kNever;              // at the start of the batch
  Time behind = kNever;             // limit = latest time - behind; kNever: the limit stands
  Time ceiling = kForever;          // rows after it are dropped, too, and move nothing
  Time latest = kNever;             // time so far
  Time lo = kForever, hi = kNever;  // of the rows that come
  std::vector<std::uint32_t> late;  // the rows that do not

  Time limit_at(Time most) const {
    return behind == kNever || most == kNever ? limit : std::max(limit, most - behind);
  }
  void judge(const Time* times, std::size_t n) {
    bool any = false;
    Time most = latest;
    if (behind == kNever) {
      for (std::size_t i = 0; i < n; ++i) {
        lo = std::min(lo, times[i]);
        hi = std::max(hi, times[i]);
      }
      any = lo < limit || hi > ceiling;
      most = std::max(most, hi);
    } else {
      const Time start = limit;  // no branch depends on which rows are late
      Time bound = limit_at(most);
      for (std::size_t i = 0; i < n; ++i) {
        const Time t = times[i];
        lo = std::min(lo, t);
        hi = std::max(hi, t);
        any |= t < bound || t > ceiling;
        most = std::max(most, t);
        bound = std::max(start, most - behind);
      }
    }
    if (any) return judge_each(times, n);
    latest = most;
  }

 private:
  void judge_each(const Time* times, std::size_t n) {
    lo = kForever, hi = kNever;
    for (std::size_t i = 0; i < n; ++i) {
      if (times[i] < limit_at(latest) || times[i] > ceiling) {
        late.push_back(static_cast<std::uint32_t>(i));
        continue;
      }
      lo = std::min(lo, times[i]);
      hi = std::max(hi, times[i]);
      latest = std::max(latest, times[i]);
    }
  }
};

template <Monoid M>
class StreamSlicer {
 public:
  using Cell = typename M::Cell;
  std::vector<KeySlices> keys;
  std::vector<Slice> slices;
  StatePool<M> states;

  explicit StreamSlicer(const M& m) : states(m), m_(m), sums_(m_), lifted_(m_) {}

  // ids: the key of each row, null: all have key 0. in.at(i): row i. Rows that are late are left out.
  template <class In>
  void cut(const WindowSet& windows, bool by_time, Time watermark, const std::uint32_t* ids,
           const Time* times, std::size_t n, const Admission& admitted, In&& in) {
    clear();
    if (n == admitted.late.size()) return;
    midway_ = true;
    poll_ = {};
    windows_ = &windows;
    by_time_ = by_time;
    watermark_ = watermark;
    gap_ = windows.least_gap();
    times_ = times;
    gridded_ = grid_.build(windows, admitted.lo, admitted.hi, n);
    const bool scattered = gridded_ && !by_time;
    if (ids == nullptr && scattered && admitted.late.empty()) {
      keys.push_back({0, 0, 0});
      scatter(n, [](std::size_t i) { return i; }, in);
      keys.back().to = slices.size();
      midway_ = false;
      return;
    }
    order_.each_key(ids, n, admitted.late, [&](std::uint32_t key, std::span<RowOrder::Item> rows) {
      keys.push_back({key, slices.size(), 0});
      if (scattered) scatter(rows.size(), [rows](std::size_t r) { return rows[r].row; }, in);
      else walk(rows, in);
      keys.back().to = slices.size();
    });
    midway_ = false;
  }

  // Slices that were folded elsewhere, those of a key together and in order of time: rows of ids[i]
  // from firsts[i] to lasts[i]. read(i, to) gives the state.
  template <class Read>
  void take(const WindowSet& windows, Time watermark, const std::uint32_t* ids, const Time* firsts,
            const Time* lasts, std::size_t n, Read&& read) {
    clear();
    windows_ = &windows;
    watermark_ = watermark;
    gridded_ = false;
    for (std::size_t i = 0; i < n; ++i) {
      const std::uint32_t key = ids != nullptr ? ids[i] : 0;
      if (i == 0 || key != keys.back().key) keys.push_back({key, i, i});
      slices.push_back(starting_at(firsts[i]));
      slices.back().last = lasts[i];
      read(i, states.add());
      keys.back().to = i + 1;
    }
  }

 private:
  void clear() {
    drain(keys), drain(slices), states.clear();
    around_ = {kForever, kNever};
    const bool roomy = spans_.size() > kRoom + 16 * grid_.slices();
    if (!midway_ && !roomy) return;  // else an aggregate's function raised, or a batch was large
    sums_.clear(), drain(touched_);
    std::vector<Span>().swap(spans_);
  }
  template <class RowAt, class In>
  void scatter(std::size_t n, RowAt&& row_at, In& in) {
    sums_.add_many(grid_.slices());
    spans_.resize(std::max(spans_.size(), grid_.slices()), kEmpty);
    const std::size_t block = Poll::pace.block;
    for (std::size_t from = 0; from < n; from += block) {
      const std::size_t to = std::min(n, from + block);
      if (gap_ != 0) scatter_rows<true>(n, from, to, row_at, in);
      else scatter_rows<false>(n, from, to, row_at, in);
      poll_(to - from);
    }
    if (n > grid_.slices()) {
      touched_.clear();
      for (std::uint32_t s = 0; s < grid_.slices(); ++s)
        if (spans_[s].last != kNever) touched_.push_back(s);
    } else {
      std::sort(touched_.begin(), touched_.end());
    }
    for (const std::uint32_t s : touched_) {
      collect(s);
      spans_[s] = kEmpty;
      m_.set_identity(sums_[s]);
    }
    touched_.clear();
  }
  template <bool Sessions, class RowAt, class In>
  [[gnu::flatten]] void scatter_rows(std::size_t n, std::size_t from, std::size_t to, RowAt& row_at,
                                     In& in) {
    const bool few = n <= grid_.slices();  // then remember which slices there are
    Cell* lifted = lifted_.get();
    for (std::size_t i = from; i < to; ++i) {
      const std::size_t row = row_at(i);
      const Time t = times_[row];
      const std::size_t s = grid_.slice(t);
      Span& span = spans_[s];
      if (few && span.last == kNever) touched_.push_back(static_cast<std::uint32_t>(s));
      if constexpr (Sessions) {
        span.first = std::min(span.first, t);
        span.last = std::max(span.last, t);
      } else {
        span.last = t;
      }
      fold(sums_[s], lifted, in, row);
    }
  }
  template <class In>
  void fold(Cell* sum, Cell* lifted, In& in, std::size_t row) {
    if constexpr (requires { m_.fold(sum, in.at(row)); }) {
      m_.fold(sum, in.at(row));
    } else {
      m_.lift(lifted, in.at(row));
      m_.append(sum, lifted);
    }
  }
  // Slice s of the grid becomes a slice, or part of the one before it.
  void collect(std::uint32_t s) {
    const Bounds& fixed = grid_.bounds(s);
    const Span span = gap_ != 0 ? spans_[s] : Span{spans_[s].last, spans_[s].last};
    if (gap_ != 0 && keys.back().from < slices.size()) {
      Slice& before = slices.back();
      if (before.fixed.begin == fixed.begin && span.first - before.last <= gap_) {
        before.last = span.last;
        return m_.combine(states.back(), states.back(), sums_[s]);
      }
    }
    slices.push_back({fixed, span.first, span.last, grid_.due(s, *windows_, watermark_)});
    m_.copy_state(states.add(), sums_[s]);
  }

  // The rows of one key in order of time.
  template <class In>
  void walk(std::span<RowOrder::Item> rows, In& in) {
    order_.by_time(rows, times_);
    Cell* lifted = lifted_.get();
    for (std::size_t i = 0; i < rows.size(); ++i) {
      poll_();
      const std::size_t row = rows[i].row;
      const Time t = times_[row];
      if (i == 0 || ends_before(t)) {
        slices.push_back(starting_at(t));
        states.add();
      }
      slices.back().last = t;
      fold(states.back(), lifted, in, row);
    }
  }
  bool ends_before(Time t) const {
    const Slice& s = slices.back();
    return t >= s.fixed.end || (by_time_ && t != s.last) || (gap_ != 0 && t - s.last > gap_);
  }
  Slice starting_at(Time t) {
    if (gridded_) {
      const std::size_t s = grid_.slice(t);
      return {grid_.bounds(s), t, t, grid_.due(s, *windows_, watermark_)};
    }
    if (t < around_.begin || t >= around_.end) around_ = windows_->bounds(t);
    return {around_, t, t, windows_->next_end(std::max(t, watermark_))};
  }

  struct Span {
    Time first, last;
  };
  static constexpr Span kEmpty{kForever, kNever};
  M m_;
  Poll poll_;
  const WindowSet* windows_ = nullptr;
  bool by_time_ = false, gridded_ = false, midway_ = false;
  Time watermark_ = kNever, gap_ = 0;
  const Time* times_ = nullptr;
  EdgeGrid grid_;
  StatePool<M> sums_;  // by slice of the grid; all the identity between keys
  Held<M> lifted_;
  std::vector<Span> spans_;
  std::vector<std::uint32_t> touched_;
  RowOrder order_;
  Bounds around_;  // the fixed slice looked up last
};

}  // namespace sash::slicing
