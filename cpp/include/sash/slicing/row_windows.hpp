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
  RowWindows(const M& m, Emit emit) : m_(m), manager_(m, emit), row_(m_), lifted_(m_) {}

  std::vector<RowWindow> windows;

  // What is new is computed first. Then it becomes part of the tracks (commit), or the rows that came
  // are taken out again (undo).
  void begin() {
    drain(touched_), drain(inserted_), drain(places_);
    manager_.begin();
    manager_.poll = {};
  }
  // The keys that got rows, in order.
  const std::vector<std::uint32_t>& touched() const { return touched_; }
  bool touched(std::uint32_t id) const {
    return std::binary_search(touched_.begin(), touched_.end(), id);
  }
  // Those of which anything was computed.
  const std::vector<TrackChange>& changes() const { return manager_.changes(); }

  // Adds the rows of a batch and computes what is new. marks: the columns of each window in turn.
  template <class In>
  void take(Keys& keys, const std::uint32_t* ids, const Time* times, std::size_t n,
            const std::vector<std::uint32_t>& late, In&& in,
            const std::vector<const std::int64_t*>& marks, Time next, Emission<M>& out) {
    if (windows.empty()) return;
    order_.each_key(ids, n, late, [&](std::uint32_t id, std::span<RowOrder::Item> items) {
      order_.by_time(items, times);
      touched_.push_back(id);
      lift(items, in);
      insert(id, keys[id], items, times, marks);
      tell_changed(id, keys[id], next, out);
    });
  }
  // Computes what a watermark completes.
  void tell(std::uint32_t id, KeyState<M>& key, Time next, Emission<M>& out) {
    changed_.assign(windows.size(), RowManager<M>::kNone);
    tell_changed(id, key, next, out);
  }
  void list(std::uint32_t id, const KeyState<M>& key, Time watermark, Time limit,
            Emission<M>& out) {
    for (std::size_t w = 0; w < key.tracks.size(); ++w)
      manager_.list(windows[w], id, key.tracks[w], watermark, limit, out);
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
    for (const TrackChange& c : manager_.changes()) keys[c.id].tracks[c.window].sweep.reset();
    while (!inserted_.empty()) {
      const Inserted i = inserted_.back();
      inserted_.pop_back();
      keys[i.id].tracks[i.window].rows.close(m_, places(i));
    }
    manager_.begin();
  }
  void commit(Keys& keys, Time limit) {
    for (const TrackChange& c : manager_.changes())
      manager_.apply(windows[c.window], c, keys[c.id].tracks[c.window], limit);
  }

 private:
  struct Inserted {
    std::uint32_t id;
    std::size_t window;
    std::size_t from, to;  // of places_
  };
  std::span<const std::size_t> places(const Inserted& i) const {
    return std::span(places_).subspan(i.from, i.to - i.from);
  }
  template <class In>
  void lift(std::span<RowOrder::Item> items, In& in) {
    lifted_.clear();
    for (const RowOrder::Item& item : items) {
      manager_.poll();
      typename M::Cell* state = lifted_.add();
      m_.lift(row_.get(), in.at(item.row));
      m_.to_state(state, row_.get());
    }
  }
  void insert(std::uint32_t id, KeyState<M>& key, std::span<RowOrder::Item> items,
              const Time* times, const std::vector<const std::int64_t*>& marks) {
    while (key.tracks.size() < windows.size())
      key.tracks.emplace_back(m_, windows[key.tracks.size()].marks);
    changed_.assign(windows.size(), RowManager<M>::kNone);
    std::size_t column = 0;
    for (std::size_t w = 0; w < windows.size(); ++w) {
      const RowWindow& window = windows[w];
      RowTrack<M>& track = key.tracks[w];
      std::size_t skipped = 0;  // rows from before the window was registered
      while (window.since != kNever && skipped < items.size() &&
             times[items[skipped].row] < window.since)
        ++skipped;
      const Inserted i{id, w, places_.size(), places_.size() + items.size() - skipped};
      std::size_t before = 0;  // rows that are there; once it is all of them, it stays so
      const std::size_t size = track.rows.size();
      for (std::size_t k = skipped; k < items.size(); ++k) {
        if (before < size) before = track.rows.before(times[items[k].row] + 1);
        places_.push_back(before + k - skipped);
      }
      if (i.from < i.to) {
        reserve_one(inserted_);
        track.rows.open(m_, places(i));
        inserted_.push_back(i);
        changed_[w] = track.base + static_cast<Rank>(places_[i.from]);
      }
      typename RowList<M>::Reader rows(track.rows, m_);
      for (std::size_t k = skipped; k < items.size(); ++k) {
        const auto row = rows[places_[i.from + k - skipped]];
        row.time = times[items[k].row];
        m_.copy_state(row.state, lifted_[k]);
        for (std::size_t c = 0; c < window.marks; ++c)
          row.marks[c] = marks[column + c][items[k].row];
      }
      column += window.marks;
    }
  }
  void tell_changed(std::uint32_t id, KeyState<M>& key, Time next, Emission<M>& out) {
    for (std::size_t w = 0; w < key.tracks.size(); ++w)
      manager_.tell(windows[w], w, id, key.tracks[w], changed_[w], next, out);
  }

  M m_;
  RowManager<M> manager_;
  Held<M> row_;
  StatePool<M> lifted_;  // the rows of one key
  RowOrder order_;
  std::vector<std::uint32_t> touched_;
  std::vector<Inserted> inserted_;
  std::vector<std::size_t> places_;
  std::vector<Rank> changed_;  // the first new row of each window
};

}  // namespace sash::slicing
