// WindowOperator: saving all of it or what has changed since, and loading it again.
//
// A whole snapshot has every slice, session and saying. One of changes has those that the journal
// names, as they are now; of sessions it has the stretches of rows that made them grow, which have
// the same effect again. What the watermark made obsolete needs no mention: settle() drops it.
#pragma once

#include "sash/slicing/window_operator.hpp"

namespace sash::slicing {

// No window was told more often: there is room to count on from here.
inline constexpr std::uint64_t kMostRevisions = std::uint64_t{1} << 30;

template <Monoid M>
template <class Archive>
std::vector<std::uint32_t> WindowOperator<M>::save(Archive& a, bool all) {
  require_whole();
  Journal& journal = slices_.journal;
  journal.tidy();
  a.number(all ? 1 : 0);
  a.time(watermark_);
  a.time(latest_);
  a.number(counts_.accepted);
  a.number(counts_.late);
  std::vector<std::uint32_t> ids;
  const auto slice = [&](std::uint32_t id, Time t, const Cell* state) {
    a.number(id);
    a.time(t);
    a.number(state != nullptr);
    if (state != nullptr) a.state(m_, state);
  };
  const auto saying = [&](std::uint32_t id, const Told<M>& told, const Saying& s) {
    a.number(id);
    a.time(s.due);
    a.time(s.start);
    a.number(static_cast<std::uint64_t>(s.window));
    a.number(static_cast<std::uint64_t>(s.revision));
    a.number(s.standing);
    a.outcome(m_, told.outcomes, told.index(&s));
  };
  if (all) {
    std::size_t slices = 0, intervals = 0, sayings = 0;
    for (const KeyState<M>& key : keys_) {
      slices += key.store.size();
      for (const Intervals& i : key.sessions) intervals += i.size();
      if (key.told) sayings += key.told->sayings.size();
    }
    a.number(slices);
    for (std::uint32_t id = 0; id < keys_.size(); ++id)
      keys_[id].store.for_each(m_, [&](Time t, const Cell* state) { slice(id, t, state); });
    a.number(intervals);
    for (std::uint32_t id = 0; id < keys_.size(); ++id)
      for (std::size_t w = 0; w < keys_[id].sessions.size(); ++w)
        keys_[id].sessions[w].each_ending_from(kNever, [&](const Interval& s) {
          a.number(id);
          a.number(w);
          a.time(s.first);
          a.time(s.last);
          return true;
        });
    a.number(sayings);
    for (std::uint32_t id = 0; id < keys_.size(); ++id)
      if (keys_[id].told)
        for (const Saying& s : keys_[id].told->sayings) saying(id, *keys_[id].told, s);
  } else {
    const auto gone = [&](const auto& place) { return !live(place.key); };
    std::erase_if(journal.slices, gone);
    std::erase_if(journal.spans, gone);
    std::erase_if(journal.sayings, gone);
    a.number(journal.slices.size());
    for (const auto& p : journal.slices) slice(p.key, p.time, keys_[p.key].store.find(m_, p.time));
    a.number(journal.spans.size());
    for (const auto& s : journal.spans) {
      a.number(s.key);
      a.time(s.first);
      a.time(s.last);
    }
    std::vector<std::pair<std::uint32_t, const Saying*>> standing;
    for (const auto& s : journal.sayings)
      if (const auto& told = keys_[s.key].told)
        if (const Saying* said = told->find(s.window, s.start, s.due))
          standing.emplace_back(s.key, said);
    a.number(standing.size());
    for (const auto& [id, said] : standing) saying(id, *keys_[id].told, *said);
  }
  std::vector<std::uint32_t> tracked;
  for (std::uint32_t id = 0; all && id < keys_.size(); ++id)
    if (!keys_[id].tracks.empty()) tracked.push_back(id);
  for (const std::uint32_t id : journal.tracks)
    if (!all && live(id)) tracked.push_back(id);
  save_tracks(a, tracked);
  for (std::uint32_t id = 0; all && id < keys_.size(); ++id)
    if (keys_[id].live) ids.push_back(id);
  if (!all) {
    for (const auto& p : journal.slices) ids.push_back(p.key);
    for (const auto& p : journal.spans) ids.push_back(p.key);
    for (const auto& p : journal.sayings) ids.push_back(p.key);
    ids.insert(ids.end(), tracked.begin(), tracked.end());
    std::sort(ids.begin(), ids.end());
    ids.erase(std::unique(ids.begin(), ids.end()), ids.end());
  }
  return ids;
}

template <Monoid M>
template <class Archive>
KeyState<M>& WindowOperator<M>::loaded_key(Archive& a, const KeyNumbers& numbers) {
  std::uint64_t id;
  a.number(id);
  const auto here = numbers.find(id);
  a.require(here != numbers.end(), "it names a key that it does not have");
  make_room(here->second + std::size_t{1});
  if (loaded_.empty() || loaded_.back() != here->second) loaded_.push_back(here->second);
  KeyState<M>& state = keys_[here->second];
  if (state.sessions.size() < session_windows_) state.sessions.resize(session_windows_);
  return state;
}

template <Monoid M>
template <class Archive>
void WindowOperator<M>::load(Archive& a, const KeyNumbers& numbers) {
  std::uint64_t all, n;
  const auto time = [&](Time& t) {
    a.time(t);
    a.require(t >= kEarliest - 2 * kLongest && t <= kEnd, "a time is out of reach");
  };
  const auto key = [&]() -> KeyState<M>& { return loaded_key(a, numbers); };
  a.number(all);
  time(watermark_);
  a.require(watermark_ >= kEarliest, "its watermark is out of reach");
  a.time(latest_);
  a.require(latest_ == kNever || (latest_ >= -kReach && latest_ <= kReach),
            "its latest time is out of reach");
  a.number(counts_.accepted);
  a.number(counts_.late);
  a.number(n);
  for (std::uint64_t i = 0; i < n; ++i) {
    KeyState<M>& state = key();
    Time t;
    std::uint64_t there;
    a.time(t);
    a.require(t == kNever || (t >= kEarliest - kLongest && t <= kReach), "a slice is out of reach");
    a.number(there);
    if (there) a.state(m_, fold_.get());
    if (!there) {
      state.store.remove(m_, t);
      continue;
    }
    state.live = true;
    slices_.replace(state, t, fold_.get());
  }
  a.number(n);
  for (std::uint64_t i = 0; i < n; ++i) {
    KeyState<M>& state = key();
    std::uint64_t number = 0;
    if (all) a.number(number);
    Interval rows;
    a.time(rows.first);
    a.time(rows.last);
    a.require(rows.first >= -kReach && rows.first <= rows.last && rows.last <= kReach &&
                  (!all || number < session_windows_),
              "a session is none of these windows");
    std::size_t session = 0;
    for (const Window& w : windows_.windows) {
      if (w.kind != Window::Kind::session) continue;
      const std::size_t at = session++;
      if (all ? at != number : w.since != kNever && rows.first < w.since) continue;
      state.sessions[at].add(rows.first, rows.last, w.size, [](const Interval&) {});
    }
  }
  a.number(n);
  Outcomes<M> outcome(m_);
  for (std::uint64_t i = 0; i < n; ++i) {
    KeyState<M>& state = key();
    Saying s;
    std::uint64_t window, revision, standing;
    time(s.due);
    time(s.start);
    a.number(window);
    a.number(revision);
    a.number(standing);
    const auto& all_windows = windows_.windows;
    a.require(std::any_of(all_windows.begin(), all_windows.end(),
                          [&](const Window& w) {
                            return static_cast<std::uint64_t>(w.id) == window && s.due > s.start;
                          }),
              "a saying is of no window");
    a.require(revision <= kMostRevisions && standing < 2, "a saying has no such revision");
    s.window = static_cast<std::int32_t>(window);
    s.revision = static_cast<std::int32_t>(revision);
    s.standing = standing != 0;
    outcome.clear();
    a.add_outcome(m_, outcome);
    if (!state.told) state.told = std::make_unique<Told<M>>(m_);
    state.told->set(s, outcome, 0);
  }
  load_tracks(a, numbers);
}

// Of windows by rows, all that is kept of a key.
template <Monoid M>
template <class Archive>
void WindowOperator<M>::save_tracks(Archive& a, const std::vector<std::uint32_t>& ids) {
  a.number(ids.size());
  for (const std::uint32_t id : ids) {
    a.number(id);
    a.number(keys_[id].tracks.size());
    for (std::size_t w = 0; w < keys_[id].tracks.size(); ++w) {
      const RowTrack<M>& track = keys_[id].tracks[w];
      a.time(track.base);
      a.time(track.next);
      a.time(track.due);
      const Revisions& r = track.revisions;
      for (const Time t : {r.retracted_to, r.reachable_to}) a.time(t);
      a.number(static_cast<std::uint64_t>(r.highest));
      a.number(track.rows.size());
      for (std::size_t i = 0; i < track.rows.size(); ++i) {
        a.time(track.rows.time(i));
        a.state(m_, track.rows.state(m_, i));
        for (std::size_t c = 0; c < track.rows.width(); ++c) a.time(track.rows.marks(i)[c]);
      }
      a.number(track.told.size());
      for (std::size_t i = 0; i < track.told.size(); ++i) {
        const RowSaying& s = track.told[i];
        for (const Time t : {s.frame.lo, s.frame.hi, s.frame.start, s.frame.end, s.frame.due})
          a.time(t);
        a.number(static_cast<std::uint64_t>(s.revision));
        a.number(s.complete);
        a.outcome(m_, track.outcomes, i);
      }
    }
  }
}

template <Monoid M>
template <class Archive>
void WindowOperator<M>::load_tracks(Archive& a, const KeyNumbers& numbers) {
  std::uint64_t keys, tracks, n, number;
  const auto is_due = [](Time t) { return t == kForever || (t >= -kReach && t <= kReach); };
  a.number(keys);
  for (std::uint64_t k = 0; k < keys; ++k) {
    KeyState<M>& key = loaded_key(a, numbers);
    key.drop_tracks(m_);
    a.number(tracks);
    a.require(tracks <= rows_.windows.size(), "it has rows of windows that there are not");
    for (std::uint64_t w = 0; w < tracks; ++w) {
      key.tracks.emplace_back(m_, rows_.windows[w].marks);
      RowTrack<M>& track = key.tracks.back();
      a.time(track.base);
      a.time(track.next);
      a.time(track.due);
      const RowWindow& window = rows_.windows[w];
      a.require(track.base >= 0 && track.base < kReach && track.next >= 0 &&
                    track.next < kReach / window.step,
                "a rank is out of reach");
      a.require(is_due(track.due), "a window is due out of reach");
      Revisions& r = track.revisions;
      for (Time* to : {&r.retracted_to, &r.reachable_to}) {
        a.time(*to);
        a.require(*to == kNever || (*to >= -kReach && *to <= kReach), "a time is out of reach");
      }
      a.number(number);
      a.require(number <= kMostRevisions, "a window has no such revision");
      r.highest = static_cast<std::int32_t>(number);
      a.number(n);
      Time t = kNever, before = kNever;
      for (std::size_t i = 0; i < n; ++i) {
        a.time(t);
        a.require(t >= before && t >= -kReach && t <= kReach, "times do not ascend");
        before = t;
        a.state(m_, fold_.get());
        track.rows.open(m_, std::span(&i, 1));
        const auto row = track.rows.row(m_, i);
        row.time = t;
        m_.copy_state(row.state, fold_.get());
        for (std::size_t c = 0; c < track.rows.width(); ++c) a.time(row.marks[c]);
      }
      a.number(n);
      Rank last = -1;
      for (std::uint64_t i = 0; i < n; ++i) {
        RowSaying s{};
        for (Time* to : {&s.frame.lo, &s.frame.hi, &s.frame.start, &s.frame.end, &s.frame.due})
          a.time(*to);
        a.require(s.frame.lo >= track.base && s.frame.hi > s.frame.lo &&
                      s.frame.hi <= track.end() && s.frame.hi >= last,
                  "a window has rows that are not there");
        a.require(window.holds(s.frame.lo, s.frame.hi) && s.frame.start == track.time(s.frame.lo) &&
                      s.frame.end == track.time(s.frame.hi - 1) && is_due(s.frame.due),
                  "a window has other rows than it should");
        last = s.frame.hi;
        a.number(number);
        a.require(number <= kMostRevisions, "a window has no such revision");
        s.revision = static_cast<std::int32_t>(number);
        a.number(number);
        s.complete = number != 0;
        track.told.push_back(s);
        a.add_outcome(m_, track.outcomes);
      }
      const Rank from = Frames<M>(window, track).needed(track.next);
      a.require(from >= track.base && from <= track.end() && track.next <= track.end(),
                "a window has rows that are not there");
      key.live = true;
    }
  }
}

template <Monoid M>
void WindowOperator<M>::settle() {
  loaded_.resize(keys_.size());
  std::iota(loaded_.begin(), loaded_.end(), 0u);
  follow();
}

// Keys that were not loaded have changed only where something of them was due.
template <Monoid M>
void WindowOperator<M>::follow() {
  needed_from_ = windows_.needed_from(limit());
  next_end_ = windows_.next_end(watermark_);
  due_ = std::move(loaded_);
  collect_due(watermark_);
  due_.erase(std::unique(due_.begin(), due_.end()), due_.end());
  for (const std::uint32_t id : due_) {
    if (!keys_[id].live) continue;
    trim(id);
    if (keys_[id].empty()) forget(id);
    else if (const Time due = next_due_of(id, true); due != kForever) enqueue(id, due);
  }
  loaded_.clear();
  slices_.journal.start();
}

}  // namespace sash::slicing
