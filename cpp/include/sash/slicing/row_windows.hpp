// RowWindows: the windows of an operator whose edges are rows, and their tracks, one for each key.
#pragma once

#include "sash/slicing/key_state.hpp"
#include "sash/slicing/row_manager.hpp"
#include "sash/slicing/row_order.hpp"

namespace sash::slicing {

template <Monoid M>
class RowWindows {
 public:
  using Keys = std::vector<KeyState<M>>;
  RowWindows(const M& m, Emit emit, Time lateness)
      : m_(m), manager_(m, emit), lateness_(lateness), row_(m_) {}

  std::vector<RowWindow> windows;

  // Tracks are changed as they are told: where that may fail, they are kept as they were before.
  void begin(bool undoable) {
    undoable_ = undoable;
    touched_.clear();
  }
  // The keys that got rows.
  const std::vector<std::uint32_t>& touched() const { return touched_; }

  // Adds the rows of a batch and tells what is new; due(id) is called for each key. marks: the
  // columns of each window in turn.
  template <class In, class Due>
  void take(Keys& keys, const std::uint32_t* ids, const Time* times, std::size_t n,
            const std::vector<std::uint32_t>& late, In&& in,
            const std::vector<const std::int64_t*>& marks, Time next, Emission<M>& out, Due&& due) {
    if (windows.empty()) return;
    order_.each_key(ids, n, late, [&](std::uint32_t id, std::span<RowOrder::Item> items) {
      order_.by_time(items, times);
      keep(id, keys[id]);
      touched_.push_back(id);
      insert(keys[id], items, times, in, marks);
      tell_changed(id, keys[id], next, out);
      due(id);
    });
  }
  // Tells what a watermark completes.
  void tell(std::uint32_t id, KeyState<M>& key, Time next, Emission<M>& out) {
    keep(id, key);
    changed_.assign(windows.size(), RowManager<M>::kNone);
    tell_changed(id, key, next, out);
  }
  void list(std::uint32_t id, const KeyState<M>& key, Time watermark, Emission<M>& out) {
    for (std::size_t w = 0; w < key.tracks.size(); ++w)
      manager_.list(windows[w], id, key.tracks[w], watermark, out);
  }
  static Time due(const KeyState<M>& key, Time lateness) {
    Time due = kForever;
    for (const RowTrack<M>& track : key.tracks) due = std::min(due, track.next_due(lateness));
    return due;
  }
  // Gives up a window; false if it is none of these.
  bool remove(int id, Keys& keys) {
    for (std::size_t i = 0; i < windows.size(); ++i) {
      if (windows[i].id != id) continue;
      windows.erase(windows.begin() + static_cast<std::ptrdiff_t>(i));
      for (KeyState<M>& key : keys) {
        if (i >= key.tracks.size()) continue;
        key.tracks[i].rows.clear(m_);
        key.tracks.erase(key.tracks.begin() + static_cast<std::ptrdiff_t>(i));
      }
      return true;
    }
    return false;
  }

  void undo(Keys& keys) {
    while (!old_.empty()) {
      auto& [id, tracks] = old_.back();
      keys[id].drop_tracks(m_);
      keys[id].tracks = std::move(tracks);
      old_.pop_back();
    }
  }
  void commit() {
    for (auto& [id, tracks] : old_)
      for (RowTrack<M>& track : tracks) track.rows.clear(m_);
    old_.clear();
  }

 private:
  void keep(std::uint32_t id, const KeyState<M>& key) {
    if (!undoable_) return;
    std::vector<RowTrack<M>> copies;
    for (const RowTrack<M>& track : key.tracks) copies.push_back(track.copy(m_));
    old_.emplace_back(id, std::move(copies));
  }
  template <class In>
  void insert(KeyState<M>& key, std::span<RowOrder::Item> items, const Time* times, In& in,
              const std::vector<const std::int64_t*>& marks) {
    while (key.tracks.size() < windows.size()) key.tracks.emplace_back(m_);
    changed_.assign(windows.size(), RowManager<M>::kNone);
    for (const RowOrder::Item& item : items) {
      m_.lift(row_.get(), in.at(item.row));
      m_.to_state(row_.get(), row_.get());
      const Time t = times[item.row];
      std::size_t column = 0;
      for (std::size_t w = 0; w < windows.size(); ++w) {
        const RowWindow& window = windows[w];
        its_.clear();
        for (std::size_t c = 0; c < window.marks; ++c) its_.push_back(marks[column++][item.row]);
        if (window.since != kNever && t < window.since) continue;
        const Rank at = key.tracks[w].insert(m_, t, row_.get(), its_.data(), window.marks);
        changed_[w] = std::min(changed_[w], at);
      }
    }
  }
  void tell_changed(std::uint32_t id, KeyState<M>& key, Time next, Emission<M>& out) {
    for (std::size_t w = 0; w < key.tracks.size(); ++w)
      manager_.tell(windows[w], id, key.tracks[w], changed_[w], next, next - lateness_, out);
  }

  M m_;
  RowManager<M> manager_;
  Time lateness_;
  Held<M> row_;
  RowOrder order_;
  bool undoable_ = false;
  std::vector<std::pair<std::uint32_t, std::vector<RowTrack<M>>>> old_;
  std::vector<std::uint32_t> touched_;
  std::vector<Rank> changed_;  // the first new row of each window
  Marks its_;
};

}  // namespace sash::slicing
