// What windows there are and what is in them, by definition: the brute force that operators are
// held against.
#pragma once

#include <algorithm>
#include <map>
#include <tuple>
#include <vector>

#include "sash/slicing/window_operator.hpp"

namespace sash::trials {

using slicing::Window;
using Place =
    std::tuple<std::uint32_t, int, slicing::Time, slicing::Time>;  // key, window, start, end

template <class S>
struct StreamRow {
  std::uint32_t key;
  slicing::Time time;
  typename S::In value;
};
struct Expected {
  Word result;
  slicing::Time due;
};

template <class S>
class WindowOracle {
  using Time = slicing::Time;
  using Rows = std::vector<StreamRow<S>>;

 public:
  static std::map<Place, Expected> all(const std::vector<Window>& windows, const Rows& rows) {
    WindowOracle oracle;
    std::map<std::uint32_t, Rows> by_key;
    for (const StreamRow<S>& row : rows) by_key[row.key].push_back(row);
    for (auto& [key, its] : by_key) {
      std::stable_sort(its.begin(), its.end(),
                       [](const auto& a, const auto& b) { return a.time < b.time; });
      for (const Window& w : windows) oracle.windows_of(w, key, its);
    }
    return std::move(oracle.all_);
  }

 private:
  void windows_of(const Window& w, std::uint32_t key, const Rows& rows) {
    if (w.kind == Window::Kind::session) return sessions(w, key, rows);
    Time before = slicing::kNever;
    for (const StreamRow<S>& row : rows) {
      if (row.time == std::exchange(before, row.time)) continue;
      const Time t = row.time;
      if (w.kind == Window::Kind::rolling) {
        put({key, w.id, t - w.size, t}, t + 1, w, rows, t - w.size + 1, t + 1);
      } else if (w.kind == Window::Kind::listed) {
        for (std::size_t k = 0; k < w.starts.size(); ++k)
          if (w.starts[k] <= t && t < w.ends[k]) fixed(w, key, rows, w.starts[k], w.ends[k]);
      } else {
        Time start = slicing::floor_to(t, w.slide, w.offset);
        for (; start > t - w.size; start -= w.slide) fixed(w, key, rows, start, start + w.size);
      }
    }
  }
  void fixed(const Window& w, std::uint32_t key, const Rows& rows, Time start, Time end) {
    const Place place{key, w.id, start, end};
    if (all_.count(place) == 0) put(place, end, w, rows, start, end);
  }
  void sessions(const Window& w, std::uint32_t key, const Rows& rows) {
    for (auto i = rows.begin(); i != rows.end();) {
      if (w.since != slicing::kNever && i->time < w.since) {
        ++i;
        continue;
      }
      auto j = i;
      Time last = i->time;
      for (; j != rows.end() && j->time - last <= w.size; ++j) last = j->time;
      put({key, w.id, i->time, last + w.size}, last + w.size + 1, w, rows, i->time, last + 1);
      i = j;
    }
  }
  // The rows with from <= time < to; none where the window began before it was registered.
  void put(const Place& place, Time due, const Window& w, const Rows& rows, Time from, Time to) {
    if (w.since != slicing::kNever && from < w.since) return;
    const S s{};
    typename S::State state = s.identity();
    auto row = std::lower_bound(rows.begin(), rows.end(), from,
                                [](const auto& r, Time t) { return r.time < t; });
    for (; row != rows.end() && row->time < to; ++row) state = s.combine(state, s.lift(row->value));
    typename S::Out out{};
    Word result = 0;
    if (s.lower(state, out)) std::memcpy(&result, &out, sizeof result);
    all_[place] = {result, due};
  }

  std::map<Place, Expected> all_;
};

}  // namespace sash::trials
