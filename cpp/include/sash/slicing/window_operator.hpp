// WindowOperator: many windows over one stream of slices, for many keys (Scotty, ICDE 2018).
//
//   rows -> Stream Slicer -> slices -> Slice Manager -> Aggregate Store <- Window Manager -> results
//
//   use      any mix of tumbling, sliding, session and rolling windows, keyed, in any order of rows
//   laws     associative; for aggregates that are not commutative slices are single moments
//   cost     a row: one fold. A slice of a batch: one insert. A window: one range query.
//            Keys that nothing is due of cost nothing.
//   space    the slices that windows still need, and what was told of windows that may change
//
// Watermark w: rows before w are not expected any more; windows due at or before w are told. Rows
// from w - lateness on are taken all the same and change what was told; earlier ones are refused.
//
// Invariants:
//   1  the aggregate of a window's slices is that of all accepted rows in it, in order of time and
//      arrival;
//   2  every window with rows that is due was told, and what is kept of it is what was told last;
//   3  a key with anything in it is on the agenda at or before the time something of it is due.
//
// A call that changes anything computes all of it first, results included; then nothing fails any
// more. Where an aggregate's function, a poll or the caller's `finish` throws, what was begun is
// undone. When memory runs out midway it may not be, for lack of memory: then the operator refuses
// everything that follows (`Halfway`).
#pragma once

#include <map>
#include <numeric>
#include <stdexcept>
#include <unordered_map>

#include "sash/slicing/row_windows.hpp"
#include "sash/slicing/slice_manager.hpp"
#include "sash/slicing/window_manager.hpp"

namespace sash::slicing {

struct Settings {
  Time lateness = 0;
  Time delay = kNever;  // kNever: the watermark is given, not derived
  Emit emit = Emit::complete;
  Choice store = Choice::automatic;
};
using KeyNumbers = std::unordered_map<std::uint64_t, std::uint32_t>;
struct Counts {
  std::uint64_t accepted = 0, late = 0;
};
// An earlier call ran out of memory midway: what is there is not whole.
struct Halfway : std::runtime_error {
  using std::runtime_error::runtime_error;
};

template <Monoid M>
class WindowOperator {
 public:
  using Cell = typename M::Cell;
  WindowOperator(const M& m, Settings settings)
      : m_(m),
        settings_(settings),
        slicer_(m_),
        slices_(m_, settings.store),
        manager_(m_, settings.emit, settings.lateness > 0 || settings.emit == Emit::updates),
        rows_(m_, settings.emit),
        emission_(m_),
        fold_(m_) {}
  ~WindowOperator() {
    for (KeyState<M>& key : keys_) key.clear(m_);
  }
  WindowOperator(const WindowOperator&) = delete;
  WindowOperator& operator=(const WindowOperator&) = delete;

  // ---- windows -----------------------------------------------------------------------------------
  // From the next moment on: rows up to now are in slices that it may cut.
  Time add_window(Window w);
  Time add_window(RowWindow w);
  void list_window(int id, std::vector<Time> starts, std::vector<Time> ends);
  void remove_window(int id);

  // ---- rows and time -----------------------------------------------------------------------------
  // marks: columns for the windows by rows, those of each in turn. ceiling: rows after it are dropped.
  // finish(emission, late rows) takes the results; if it throws, nothing has happened.
  template <class In, class Finish>
  void process(const std::uint32_t* ids, const Time* times, std::size_t n, In&& in,
               const std::vector<const std::int64_t*>& marks, Time ceiling, Finish&& finish) {
    require_whole();
    Admission admitted{
        .limit = limit(),
        .behind = settings_.delay == kNever ? kNever : settings_.delay + settings_.lateness,
        .ceiling = ceiling,
        .latest = latest_,
        .late = {}};
    admitted.judge(times, n);
    slicer_.keys.clear();
    if (!windows_.windows.empty())
      slicer_.cut(windows_, by_time_, watermark_, ids, times, n, admitted, in);
    Time next = watermark_;
    if (settings_.delay != kNever && admitted.latest != kNever)
      next = std::max(next, admitted.latest - settings_.delay);
    change(next, [&] {
      take_slices(next);
      rows_.take(keys_, ids, times, n, admitted.late, in, marks, next, emission_);
      complete(next);
      finish(emission_, admitted.late);
    });
    latest_ = admitted.latest;
    counts_.late += admitted.late.size();
    counts_.accepted += n - admitted.late.size();
  }
  // A watermark that is not ahead of the one there is changes nothing.
  template <class Finish>
  void advance(Time watermark, Finish&& finish) {
    slicer_.keys.clear();
    const Time next = std::max(watermark, watermark_);
    change(next, [&] {
      complete(next);
      finish(emission_);
    });
  }

  // ---- slices that travel (partials.hpp) ----------------------------------------------------------
  // f(key, first, last, state) for all that is kept of the rows so far.
  template <class F>
  void each_slice(F&& f) const;
  // Takes what each_slice gave elsewhere. read(i, to) reads a state. If it or finish throws, nothing
  // has happened, where a batch can be undone.
  template <class Read, class Finish>
  void merge(const std::uint32_t* ids, const Time* firsts, const Time* lasts, std::size_t n,
             Read&& read, Finish&& finish);

  // ---- questions ---------------------------------------------------------------------------------
  Time watermark() const { return watermark_; }
  // How many calls have changed anything.
  std::uint64_t commits() const { return commits_; }
  Time limit() const { return watermark_ - settings_.lateness; }
  Time latest() const { return latest_; }
  // Slices from here on are all kept; of earlier ones those that sessions need.
  Time kept_from() const { return needed_from_; }
  // Before the watermark reaches this, advance does nothing; it may do nothing then, too.
  Time next_due() const { return agenda_.empty() ? kForever : agenda_.begin()->first; }
  const Counts& counts() const { return counts_; }
  bool by_time() const { return by_time_; }
  std::size_t room() const { return keys_.size(); }
  const KeyState<M>& key(std::uint32_t id) const { return keys_[id]; }
  bool live(std::uint32_t id) const { return id < keys_.size() && keys_[id].live; }
  const M& monoid() const { return m_; }
  const Emission<M>& emission() const { return emission_; }  // of the last call

  // In questions.hpp. The slice that a cut at t would go through, if one would: the times it may
  // hold; the aggregate of from <= t < to; the windows of some keys that rows may still change.
  bool cuts(std::uint32_t id, Time t, Bounds& slice) const;
  const Cell* query(std::uint32_t id, Time from, Time to);
  const Cell* identity() {
    m_.set_identity(fold_.get());
    return fold_.get();
  }
  const Emission<M>& list(const std::uint32_t* ids, std::size_t n);

  // Keys that nothing is kept of any more, since then.
  std::vector<std::uint32_t> take_forgotten() { return std::exchange(forgotten_, {}); }
  void make_room(std::size_t keys) {
    while (keys_.size() < keys) keys_.emplace_back();
  }
  // No key has a number from here on.
  void give_up_room(std::size_t keys) {
    for (; keys_.size() > keys && !keys_.back().live; keys_.pop_back()) keys_.back().clear(m_);
    give_back(keys_);
  }

  // ---- snapshots (snapshot.hpp) ------------------------------------------------------------------
  // Keys go by the numbers they have here: which ones, save returns.
  template <class Archive>
  std::vector<std::uint32_t> save(Archive& a, bool all);
  // What was saved is safe: the next changes are those after it.
  void saved() { slices_.journal.start(); }
  // What was saved is lost: the next changes are all there is.
  void unsaved() { slices_.journal.on = false; }
  // numbers: what those are here. A key that is not among them is refused.
  template <class Archive>
  void load(Archive& a, const KeyNumbers& numbers);
  void drop(std::uint32_t id) {
    if (id >= keys_.size()) return;
    keys_[id].clear(m_);
    keys_[id].live = false;
  }
  // After the last load: into a new operator; or of changes made elsewhere, into one that was there.
  void settle();
  void follow();
  bool journalled() const { return slices_.journal.on; }

 private:
  template <class Archive>
  void save_tracks(Archive& a, const std::vector<std::uint32_t>& ids);
  template <class Archive>
  void load_tracks(Archive& a, const KeyNumbers& numbers);
  template <class Archive>
  KeyState<M>& loaded_key(Archive& a, const KeyNumbers& numbers);

  void see_windows();
  void see_window(const Window& w);
  void note_kind(const Window& w);
  void take_out(int id);
  void require_whole() const {
    if (!whole_)
      throw Halfway(
          "this operator ran out of memory in the middle of an earlier call, and what it holds is "
          "not whole: restore a snapshot into a new operator");
  }
  // Until whole_ is set again, what is there is neither as it was nor as it is to be.
  void begin_change() {
    require_whole();
    whole_ = false;
  }

  template <class F>
  void change(Time next, F&& compute) {
    begin_change();
    emission_.clear();
    drain(due_);
    slices_.begin();
    rows_.begin();
    manager_.set_watermark(watermark_);
    manager_.poll = {};
    try {
      compute();
    } catch (...) {
      slices_.undo(keys_);
      rows_.undo(keys_);
      for (const std::uint32_t id : due_) enqueue(id, watermark_ + 1);
      whole_ = true;
      throw;
    }
    commit(next);
    ++commits_;
    whole_ = true;
  }

  // The slices that the slicer has.
  void take_slices(Time next) {
    const std::vector<KeySlices>& all = slicer_.keys;
    for (std::size_t i = 0; i < all.size(); ++i) {
      if (i + 2 * kAhead < all.size()) {
        __builtin_prefetch(&keys_[all[i + 2 * kAhead].key]);
        keys_[all[i + kAhead].key].store.prefetch();
      }
      manager_.poll(all[i].to - all[i].from);
      take_slices(all[i], next);
    }
  }
  void take_slices(const KeySlices& k, Time next) {
    KeyState<M>& key = keys_[k.key];
    if (key.sessions.size() < session_windows_) key.sessions.resize(session_windows_);
    drain(times_), drain(grown_), drain(gone_);
    Time due = kForever;
    for (std::size_t i = k.from; i < k.to; ++i) {
      const Slice& s = slicer_.slices[i];
      if (session_windows_ != 0) due = std::min(due, extend_sessions(k.key, key, s));
      slices_.add(k.key, key, s, slicer_.states[i], by_time_, session_);
      times_.push_back(s.first);
      due = std::min(due, s.due);
      if (rolling_) due = std::min(due, s.first + 1);
    }
    // At the latest when it can be forgotten: rows may be in no window at all.
    due = std::min(due, windows_.over(times_.back(), settings_.lateness));
    enqueue(k.key, due);
    manager_.correct(windows_, k.key, key, times_, watermark_, next, emission_);
    correct_sessions(k.key, key, next);
  }
  Time extend_sessions(std::uint32_t id, KeyState<M>& key, const Slice& s) {
    Time due = kForever;
    std::size_t number = 0;
    for (std::size_t w = 0; w < windows_.windows.size(); ++w) {
      const Window& window = windows_.windows[w];
      if (window.kind != Window::Kind::session) continue;
      const std::size_t session = number++;
      if (window.since != kNever && s.first < window.since) continue;
      const Interval now =
          slices_.extend(id, key, session, window.size, s, [&](const Interval& old) {
            if (manager_.keeps()) gone_.push_back({w, session, old});
          });
      if (manager_.keeps()) grown_.push_back({w, session, now});
      due = std::min(due, now.last + window.size + 1);
    }
    slices_.journal.span(id, s.first, s.last);
    return due;
  }
  void correct_sessions(std::uint32_t id, const KeyState<M>& key, Time next) {
    for (const Grown& g : gone_) {
      Interval now{};
      const bool there = key.sessions[g.session].around(g.at.first, now);
      if (!there || now.first != g.at.first || now.last != g.at.last)
        manager_.withdraw_session(windows_.windows[g.window], id, key, g.at, emission_);
    }
    std::sort(grown_.begin(), grown_.end(), [](const Grown& a, const Grown& b) {
      return std::tuple(a.window, a.at.first) < std::tuple(b.window, b.at.first);
    });
    const Grown* before = nullptr;
    Interval done{};
    for (Grown& g : grown_) {  // several may be one session by now
      Interval now{};
      key.sessions[g.session].around(g.at.first, now);
      if (before != nullptr && before->window == g.window && done.first == now.first) continue;
      manager_.correct_session(windows_.windows[g.window], id, key, now, watermark_, next,
                               emission_);
      before = &g;
      done = now;
    }
  }

  // All keys of which something is due by `next`.
  void complete(Time next) {
    completed_from_ = emission_.rows.size();
    if (next == watermark_) return;
    for (std::uint32_t id = 0; next >= kEnd && id < keys_.size(); ++id)  // what rows have not ended
      if (!keys_[id].tracks.empty() && keys_[id].queued == kForever) due_.push_back(id);
    collect_due(next);
    for (std::size_t i = 0; i < due_.size(); ++i) {
      const std::uint32_t id = due_[i];
      if (i + kAhead < due_.size()) keys_[due_[i + kAhead]].store.prefetch();
      manager_.complete(windows_, id, keys_[id], watermark_, next, emission_);
      if (!keys_[id].tracks.empty() && !rows_.touched(id))
        rows_.tell(id, keys_[id], next, emission_);
    }
  }

  void collect_due(Time next) {
    while (!agenda_.empty() && agenda_.begin()->first <= next) {
      const auto& [due, ids] = *agenda_.begin();
      for (const std::uint32_t id : ids) {
        // It was put elsewhere since, or is there no more.
        if (id >= keys_.size() || keys_[id].queued != due) continue;
        due_.push_back(id);
        keys_[id].queued = kForever;
      }
      agenda_.erase(agenda_.begin());
    }
    std::sort(due_.begin(), due_.end());
  }

  // From here on nothing fails.
  void commit(Time next) {
    const Time limit = next - settings_.lateness;
    if (manager_.keeps()) remember(limit);
    for (const KeySlices& k : slicer_.keys) keys_[k.key].live = true;
    for (const std::uint32_t id : rows_.touched()) keys_[id].live = true;
    rows_.commit(keys_, limit);
    for (const TrackChange& c : rows_.changes()) rows_due(c.id);
    slices_.journal.commit();
    const bool moved = next != watermark_;
    watermark_ = next;
    if (moved) move_on(limit);
    for (const std::uint32_t id : rows_.touched())
      if (keys_[id].live && keys_[id].empty()) forget(id);
  }
  // The watermark has moved: what is done with goes.
  void move_on(Time limit) {
    needed_from_ = windows_.needed_from(limit);
    next_end_ = windows_.next_end(watermark_);
    std::size_t row = completed_from_;
    for (const std::uint32_t id : due_) {
      bool any = false;
      for (; row < emission_.rows.size() && emission_.rows[row].key <= id; ++row)
        any |= emission_.rows[row].key == id;
      trim(id);
      if (keys_[id].empty()) forget(id);
      else if (const Time due = next_due_of(id, !any); due != kForever) enqueue(id, due);
    }
  }
  // What was told of windows that may change.
  void remember(Time limit) {
    const auto& rows = emission_.rows;
    for (std::size_t i = 0, j; i < rows.size(); i = j) {
      drain(said_);
      for (j = i; j < rows.size() && rows[j].key == rows[i].key; ++j) {
        if (rows[j].by_rows || rows[j].said.due <= limit) continue;
        said_.push_back({rows[j].said, j});
        slices_.journal.said(rows[j].key, rows[j].said);
      }
      if (said_.empty()) continue;
      KeyState<M>& key = keys_[rows[i].key];
      if (!key.told) key.told = std::make_unique<Told<M>>(m_);
      key.told->set(said_, emission_.outcomes);
    }
  }
  void trim(std::uint32_t id) {
    KeyState<M>& key = keys_[id];
    const Time limit = this->limit();
    Time from = needed_from_;
    std::size_t session = 0;
    for (const Window& w : windows_.windows) {
      if (w.kind != Window::Kind::session || session >= key.sessions.size()) continue;
      Intervals& all = key.sessions[session++];
      all.drop_before(limit - w.size);
      if (!all.empty()) from = std::min(from, all.front().first);
    }
    key.store.drop_before(m_, from);
    if (key.told) key.told->drop(limit);
  }
  Time next_due_of(std::uint32_t id, bool exactly) const {
    return manager_.next_due(windows_, keys_[id], watermark_, settings_.lateness, next_end_,
                             exactly);
  }
  void forget(std::uint32_t id) {
    if (!std::exchange(keys_[id].live, false)) return;
    keys_[id].clear(m_);
    forgotten_.push_back(id);
  }
  void rows_due(std::uint32_t id) {
    const Time due = rows_.due(keys_[id], settings_.lateness);
    if (due != kForever) enqueue(id, due);
    slices_.journal.track(id);
  }
  void enqueue(std::uint32_t id, Time due) {
    KeyState<M>& key = keys_[id];
    due = std::max(due, watermark_ + 1);
    if (due >= key.queued) return;
    agenda_[due].push_back(id);
    key.queued = due;
  }

  static constexpr std::size_t kAhead = 8;  // keys whose state is fetched in advance
  std::vector<std::pair<Saying, std::size_t>> said_;
  struct Grown {
    std::size_t window, session;
    Interval at;
  };
  M m_;
  Settings settings_;
  bool whole_ = true;
  WindowSet windows_;
  bool rolling_ = false;
  bool by_time_ = false;  // a slice for every moment; once so, always so
  int session_ = -1;  // the number of the session window with the smallest gap; -1: there is none
  std::size_t session_windows_ = 0;
  StreamSlicer<M> slicer_;
  SliceManager<M> slices_;
  WindowManager<M> manager_;
  RowWindows<M> rows_;
  Emission<M> emission_;
  std::vector<KeyState<M>> keys_;
  std::map<Time, std::vector<std::uint32_t>> agenda_;  // many keys are due at the same time
  Time watermark_ = kEarliest, latest_ = kNever;
  Counts counts_;
  std::uint64_t commits_ = 0;
  Time needed_from_ = kEarliest, next_end_ = kForever;
  std::size_t completed_from_ = 0;  // the emission's rows from here on are of windows now due
  std::vector<std::uint32_t> due_, forgotten_, loaded_;
  std::vector<Time> times_;
  std::vector<Grown> grown_, gone_;
  Held<M> fold_;
};

}  // namespace sash::slicing

#include "sash/slicing/partials.hpp"
#include "sash/slicing/questions.hpp"
#include "sash/slicing/registered.hpp"
#include "sash/slicing/snapshot.hpp"
