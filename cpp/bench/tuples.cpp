// tuples: tumbling windows over rows that come late, without slices (Scotty, figure 5).
//
//   buckets       every window has an aggregate of its own, which each of its rows is added to
//   flat_fat      all rows in an eager binary tree; a late one shifts those that are younger
//   finger_tree   all rows in a FingerTree
//
// A window [start, start + size) is told when the watermark, `delay` before the youngest row,
// reaches its end. Rows for windows that were told already are left out of them.
#include <algorithm>
#include <limits>
#include <queue>
#include <sstream>
#include <unordered_map>

#include "registry.hpp"
#include "replay.hpp"

namespace bench {
namespace {

using State = sash::SumI64::State;
constexpr Time kNever = std::numeric_limits<Time>::max();
constexpr sash::SumI64 kSum;

Time start_of(Time t, Time size) {
  const Time past = t % size;
  return t - (past < 0 ? past + size : past);
}

// What was told, in whatever order.
struct Told {
  std::uint64_t windows = 0;
  Checksum sum;
  void add(Time start, Time size, State state) {
    std::int64_t out = 0;
    if (!kSum.lower(state, out)) return;
    ++windows;
    sum.add(out * (start % 7 + size % 13 + 8));  // which window it is matters
  }
};

class Buckets {
 public:
  explicit Buckets(const std::vector<Time>& sizes) {
    for (const Time size : sizes) tracks_.push_back({size, {}, {}});
  }
  void add(Time t, std::int64_t value, Time watermark) {
    for (Track& track : tracks_) {
      const Time start = start_of(t, track.size);
      if (start + track.size <= watermark) continue;
      const auto [at, fresh] = track.states.try_emplace(start, kSum.identity());
      at->second = kSum.combine(at->second, kSum.lift(value));
      if (fresh) track.starts.push(start), next_ = std::min(next_, start + track.size);
    }
  }
  void tell(Time watermark, Told& told) {
    if (watermark < next_) return;
    next_ = kNever;
    for (Track& track : tracks_) {
      for (; !track.starts.empty(); track.starts.pop()) {
        const Time start = track.starts.top();
        if (start + track.size > watermark) {
          next_ = std::min(next_, start + track.size);
          break;
        }
        told.add(start, track.size, track.states.extract(start).mapped());
      }
    }
  }
  std::size_t bytes() const {
    std::size_t total = 0;
    for (const Track& track : tracks_)
      total += track.states.bucket_count() * sizeof(void*) +
               track.states.size() * (sizeof(Time) + sizeof(State) + 2 * sizeof(void*));
    return total;
  }

 private:
  struct Track {
    Time size;
    std::unordered_map<Time, State> states;
    std::priority_queue<Time, std::vector<Time>, std::greater<>> starts;
  };
  std::vector<Track> tracks_;
  Time next_ = kNever;  // the end of the window to be told next
};

// Rows in order of time at the leaves of a binary tree. Space at the front is given up when the
// leaves run out.
class FlatRows {
 public:
  void insert(Time t, std::int64_t value) {
    if (end_ == capacity_) rebuild();
    std::size_t at = end_++;
    for (; at > begin_ && times_[at - 1] > t; --at) {
      times_[at] = times_[at - 1];
      nodes_[capacity_ + at] = nodes_[capacity_ + at - 1];
    }
    times_[at] = t;
    nodes_[capacity_ + at] = kSum.lift(value);
    refresh(at, end_);
  }
  // Those of [from, to).
  State query(Time from, Time to) const {
    std::size_t i = capacity_ + lower(from), j = capacity_ + lower(to);
    State left = kSum.identity(), right = kSum.identity();
    for (; i < j; i /= 2, j /= 2) {
      if (i % 2 == 1) left = kSum.combine(left, nodes_[i++]);
      if (j % 2 == 1) right = kSum.combine(nodes_[--j], right);
    }
    return kSum.combine(left, right);
  }
  void evict_before(Time t) { begin_ = lower(t); }
  // The first time that is not before t; kNever: none.
  Time at_or_after(Time t) const {
    const std::size_t i = lower(t);
    return i == end_ ? kNever : times_[i];
  }
  std::size_t bytes() const { return capacity_ * (sizeof(Time) + 2 * sizeof(State)); }

 private:
  std::size_t lower(Time t) const {
    const auto first = times_.begin();
    return static_cast<std::size_t>(std::lower_bound(first + static_cast<std::ptrdiff_t>(begin_),
                                                     first + static_cast<std::ptrdiff_t>(end_), t) -
                                    first);
  }
  void refresh(std::size_t from, std::size_t to) {
    std::size_t i = capacity_ + from, j = capacity_ + to - 1;
    while (i > 1) {
      i /= 2, j /= 2;
      for (std::size_t v = i; v <= j; ++v)
        nodes_[v] = kSum.combine(nodes_[2 * v], nodes_[2 * v + 1]);
    }
  }
  void rebuild() {
    const std::size_t n = end_ - begin_, capacity = std::bit_ceil(2 * n + 8);
    std::vector<Time> times(capacity);
    std::vector<State> nodes(2 * capacity, kSum.identity());
    for (std::size_t i = 0; i < n; ++i) {
      times[i] = times_[begin_ + i];
      nodes[capacity + i] = nodes_[capacity_ + begin_ + i];
    }
    times_.swap(times), nodes_.swap(nodes);
    capacity_ = capacity, begin_ = 0, end_ = n;
    if (n != 0) refresh(0, n);
  }
  std::vector<Time> times_;
  std::vector<State> nodes_;
  std::size_t capacity_ = 0, begin_ = 0, end_ = 0;
};

class TreeRows {
 public:
  void insert(Time t, std::int64_t value) { tree_.insert(t, {value, true}); }
  State query(Time from, Time to) const {
    State out;
    return tree_.query(from, to - 1, &out), out;
  }
  void evict_before(Time t) { tree_.bulk_evict(t - 1); }
  Time at_or_after(Time t) const {
    Time found = kNever;
    return tree_.at_or_after(t, found) == nullptr ? kNever : found;
  }
  std::size_t bytes() const { return tree_.bytes(); }

 private:
  sash::FingerTree<Sum::M> tree_{Sum::monoid()};
};

// Windows told from rows that are kept until no window needs them.
template <class Store>
class FromRows {
 public:
  explicit FromRows(const std::vector<Time>& sizes) {
    for (const Time size : sizes) tracks_.push_back({size, 0});
  }
  void add(Time t, std::int64_t value, Time watermark) {
    if (!began_) begin(watermark);
    if (t >= needed_) rows_.insert(t, value);
  }
  void tell(Time watermark, Told& told) {
    if (watermark < next_) return;
    next_ = needed_ = kNever;
    for (Track& track : tracks_) {
      while (track.start + track.size <= watermark) {
        const Time found = rows_.at_or_after(track.start);
        track.start = start_of(std::min(found, watermark), track.size);
        if (track.start + track.size > watermark) break;
        told.add(track.start, track.size, rows_.query(track.start, track.start + track.size));
        track.start += track.size;
      }
      next_ = std::min(next_, track.start + track.size);
      needed_ = std::min(needed_, track.start);
    }
    rows_.evict_before(needed_);
  }
  std::size_t bytes() const { return rows_.bytes(); }

 private:
  // The first windows are those that the watermark has not passed.
  void begin(Time watermark) {
    began_ = true;
    for (Track& track : tracks_) {
      track.start = start_of(watermark, track.size);
      next_ = std::min(next_, track.start + track.size);
      needed_ = std::min(needed_, track.start);
    }
  }
  struct Track {
    Time size, start;  // of the window to be told next
  };
  std::vector<Track> tracks_;
  Store rows_;
  Time next_ = kNever, needed_ = kNever;
  bool began_ = false;
};

std::vector<Time> sizes_of(const std::string& text) {
  std::vector<Time> sizes;
  std::istringstream words(text);
  for (std::string word; std::getline(words, word, ',');) {
    const Time size = std::atoll(word.c_str());
    if (size < 1) throw Usage("windows=" + text + ": " + word + " is no length of a window");
    sizes.push_back(size);
  }
  if (sizes.empty()) throw Usage("windows= needs lengths, such as windows=1000,2000");
  return sizes;
}

template <class Operator>
void tuples(const Args& args, Report& report) {
  const Rows rows = read_rows(args.text("file"));
  const std::vector<Time> sizes = sizes_of(args.text("windows"));
  const auto delay = static_cast<Time>(args.size("delay", 0));
  report.rounds = rows.times.size();
  report.timed = args.flag("latency");
  least_of(args, report, [&](std::size_t) {
    Operator windows(sizes);
    Told told;
    Time youngest = rows.times[0];
    std::size_t most = 0;
    const auto row = [&](std::size_t i) {
      const Time t = rows.times[i];
      windows.add(t, static_cast<std::int64_t>(rows.values[i]), youngest - delay);
      youngest = std::max(youngest, t);
      windows.tell(youngest - delay, told);
      if (i % 4096 == 0) most = std::max(most, windows.bytes());
    };
    measure<false>(args, report, rows.times.size(), 1, row);
    windows.tell(kNever / 2, told);
    told.sum.add(static_cast<std::int64_t>(told.windows));
    report.checksum = told.sum;
    report.bytes = most;
  });
}

const bool added = (add_run("tuples", "buckets", "sum", tuples<Buckets>),
                    add_run("tuples", "flat_fat", "sum", tuples<FromRows<FlatRows>>),
                    add_run("tuples", "finger_tree", "sum", tuples<FromRows<TreeRows>>), true);

}  // namespace
}  // namespace bench
