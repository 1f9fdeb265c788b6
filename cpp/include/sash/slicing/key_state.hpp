// What is kept of one key.
#pragma once

#include <memory>

#include "sash/slicing/aggregate_store.hpp"
#include "sash/slicing/intervals.hpp"
#include "sash/slicing/row_track.hpp"
#include "sash/slicing/scratch.hpp"
#include "sash/slicing/told.hpp"

namespace sash::slicing {

template <Monoid M>
struct KeyState {
  AggregateStore<M> store;
  std::vector<Intervals> sessions;  // one for each session window, in their order
  std::unique_ptr<Told<M>> told;    // only where rows may change what was said
  std::vector<RowTrack<M>> tracks;  // one for each window by rows
  Time queued = kForever;           // when it is on the agenda
  bool live = false;                // it has rows

  bool empty() const {
    const auto is_empty = [](const auto& part) { return part.empty(); };
    return store.empty() && (!told || told->sayings.empty()) &&
           std::all_of(sessions.begin(), sessions.end(), is_empty) &&
           std::all_of(tracks.begin(), tracks.end(), is_empty);
  }
  void clear(const M& m) {
    store.clear(m);
    drop_tracks(m);
    told.reset();
    std::vector<Intervals>().swap(sessions);
  }
  void drop_tracks(const M& m) {
    for (RowTrack<M>& track : tracks) track.rows.clear(m);
    std::vector<RowTrack<M>>().swap(tracks);
  }
};

// What has changed since the last snapshot, so that the next one can be small.
struct Journal {
  struct Place {
    std::uint32_t key;
    Time time;
    auto operator<=>(const Place&) const = default;
  };
  struct Span {
    std::uint32_t key;
    Time first, last;
    auto operator<=>(const Span&) const = default;
  };
  struct Said {
    std::uint32_t key;
    Time due, start;
    std::int32_t window;
    auto operator<=>(const Said&) const = default;
  };
  bool on = false;
  std::vector<Place> slices;
  std::vector<Span> spans;
  std::vector<Said> sayings;
  std::vector<std::uint32_t> tracks;  // keys

  void start() {
    on = true;
    drain(slices), drain(spans), drain(sayings), drain(tracks);
    most_slices_ = most_spans_ = most_sayings_ = most_tracks_ = kFew;
  }
  void slice(std::uint32_t key, Time t) {
    if (on) note(slices, {key, t}, most_slices_);
  }
  // Of a batch that is not part of the state before it is committed.
  void span(std::uint32_t key, Time first, Time last) {
    if (on) batch_.push_back({key, first, last});
  }
  void begin() { drain(batch_); }
  void commit() {
    for (const Span& s : batch_) note(spans, s, most_spans_);
    batch_.clear();
    if (slices.size() + spans.size() + sayings.size() + tracks.size() <= kMany) return;
    start();
    on = false;  // what changed would soon be more than all there is
  }
  void said(std::uint32_t key, const auto& s) {
    if (on) note(sayings, {key, s.due, s.start, s.window}, most_sayings_);
  }
  void track(std::uint32_t key) {
    if (on) note(tracks, key, most_tracks_);
  }
  void tidy() { once(slices), once(spans), once(sayings), once(tracks); }

 private:
  template <class T>
  static void once(std::vector<T>& all) {
    std::sort(all.begin(), all.end());
    all.erase(std::unique(all.begin(), all.end()), all.end());
  }
  // The same places change again and again: a long list is made shorter.
  template <class T>
  static void note(std::vector<T>& all, const T& one, std::size_t& most) {
    all.push_back(one);
    if (all.size() < most) return;
    once(all);
    most = std::max<std::size_t>(kFew, 2 * all.size());
  }
  static constexpr std::size_t kFew = 1 << 16, kMany = 1 << 22;
  std::vector<Span> batch_;
  std::size_t most_slices_ = kFew, most_spans_ = kFew, most_sayings_ = kFew, most_tracks_ = kFew;
};

}  // namespace sash::slicing
