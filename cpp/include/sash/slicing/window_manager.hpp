// The Window Manager: which windows are to be told now, with what aggregate (Scotty, V).
//
// A window is told when it is due, once. Where rows may come later than that, what was told is kept
// (told.hpp), and a window that a late row changes is told again if its aggregate is another one.
// Nothing is changed here: what is to be said is collected, and becomes part of the state when all
// of it has been computed (`commit`).
#pragma once

#include "sash/poll.hpp"
#include "sash/slicing/key_state.hpp"

namespace sash::slicing {

enum class Emit { complete, updates, changelog };
enum class Change : std::uint8_t { complete, correction, update, withdrawn, insert, retract };

template <Monoid M>
struct Emission {
  explicit Emission(const M& m) : outcomes(m) {}
  struct Row {
    std::uint32_t key;
    Saying said;
    Change change;
    Time start, end;       // as users see them
    bool by_rows = false;  // told of a row window, which keeps its own account
  };
  std::vector<Row> rows;
  Outcomes<M> outcomes;  // one for each
  void clear() {
    drain(rows);
    outcomes.clear();
  }
};

template <Monoid M>
class WindowManager {
 public:
  using Cell = typename M::Cell;
  WindowManager(const M& m, Emit emit, bool keeps) : m_(m), emit_(emit), keeps_(keeps), fold_(m_) {}

  Poll poll;  // once for each window

  // Whether what was told is kept: when rows may change it.
  bool keeps() const { return keeps_; }
  // The watermark by which windows were told as complete.
  void set_watermark(Time watermark) { told_to_ = watermark; }

  // The windows of one key that are due after `from` and not after `to`.
  void complete(const WindowSet& windows, std::uint32_t id, const KeyState<M>& key, Time from,
                Time to, Emission<M>& out) {
    std::size_t session = 0;
    for (const Window& w : windows.windows) {
      if (w.fixed()) complete_fixed(w, id, key, from, to, out);
      else if (w.kind == Window::Kind::rolling) complete_rolling(w, id, key, from, to, out);
      else complete_sessions(w, id, key, session++, from, to, out);
    }
  }

  // The fixed and rolling windows with rows at these times: those that were due by `watermark`
  // again, and early ones that are not due by `next`.
  void correct(const WindowSet& windows, std::uint32_t id, const KeyState<M>& key,
               const std::vector<Time>& times, Time watermark, Time next, Emission<M>& out) {
    if (!keeps_) return;
    for (const Window& w : windows.windows) {
      if (w.fixed()) correct_fixed(w, id, key, times, watermark, next, out);
      else if (w.kind == Window::Kind::rolling)
        correct_rolling(w, id, key, times, watermark, next, out);
    }
  }
  // The session of window w that has changed, and one that is no longer there.
  void correct_session(const Window& w, std::uint32_t id, const KeyState<M>& key,
                       const Interval& now, Time watermark, Time next, Emission<M>& out) {
    const Time due = now.last + w.size + 1;
    if (due <= watermark || (due > next && emit_ == Emit::updates))
      say(w, id, key, now.first, due, now.first, now.last, due > next, out);
  }
  void withdraw_session(const Window& w, std::uint32_t id, const KeyState<M>& key,
                        const Interval& old, Emission<M>& out) {
    if (!key.told) return;
    const Saying* said = key.told->find(w.id, old.first, old.last + w.size + 1);
    if (said == nullptr || !said->standing) return;
    Saying gone = *said;
    gone.standing = false;
    const bool log = emit_ == Emit::changelog;
    put(w, id, gone, log ? Change::retract : Change::withdrawn, out);
    out.outcomes.push_copy(key.told->outcomes, key.told->index(said));
  }

  // The windows of one key that rows may still change, as they are now.
  void list(const WindowSet& windows, std::uint32_t id, const KeyState<M>& key, Time limit,
            Emission<M>& out) {
    struct Listing {
      bool& on;
      explicit Listing(bool& flag) : on(flag) { on = true; }
      ~Listing() { on = false; }
    } listing(listing_);
    complete(windows, id, key, limit, kReach + 3 * kLongest, out);
  }

  // The next time that anything of this key is due after `watermark`; at the earliest, or exactly.
  Time next_due(const WindowSet& windows, const KeyState<M>& key, Time watermark, Time lateness,
                Time bound, bool exactly) const {
    Time due = kForever, found;
    for (const RowTrack<M>& track : key.tracks) due = std::min(due, track.next_due(lateness));
    if (key.store.empty()) return std::max(watermark + 1, due);
    std::size_t session = 0;
    for (const Window& w : windows.windows) {
      if (w.kind == Window::Kind::session) {
        if (session >= key.sessions.size()) continue;
        Interval next;
        if (key.sessions[session++].first_ending_from(watermark - w.size, next))
          due = std::min(due, next.last + w.size + 1);
      } else if (w.kind == Window::Kind::rolling) {
        if (key.store.next(watermark, found)) due = std::min(due, found + 1);
      } else if (exactly) {
        const std::int64_t k = w.ending_after(watermark);
        if (!w.exists(k) || !key.store.next(w.start(k), found)) continue;
        const std::int64_t j = std::max(k, w.ending_after(found));
        if (w.exists(j)) due = std::min(due, w.end(j));
      }
    }
    if (!exactly) due = std::min(due, bound);
    Time last = key.store.youngest();
    for (const Intervals& all : key.sessions)
      if (!all.empty()) last = std::max(last, all.back().last);
    return std::max(watermark + 1, std::min(due, windows.over(last, lateness)));
  }

 private:
  void complete_fixed(const Window& w, std::uint32_t id, const KeyState<M>& key, Time from, Time to,
                      Emission<M>& out) {
    Time found;
    for (std::int64_t k = w.ending_after(from); w.exists(k) && w.end(k) <= to; ++k) {
      if (!key.store.next(w.start(k), found)) return;
      if (found >= w.end(k)) {  // nothing in it: on to the next row
        k = std::max(k, w.ending_after(found) - 1);
        continue;
      }
      say(w, id, key, w.start(k), w.end(k), w.start(k), w.end(k) - 1, false, out);
    }
  }
  void complete_sessions(const Window& w, std::uint32_t id, const KeyState<M>& key,
                         std::size_t session, Time from, Time to, Emission<M>& out) {
    if (session >= key.sessions.size()) return;
    key.sessions[session].each_ending_from(from - w.size, [&](const Interval& s) {
      const Time due = s.last + w.size + 1;
      if (due > to) return false;
      say(w, id, key, s.first, due, s.first, s.last, false, out);
      return true;
    });
  }
  void complete_rolling(const Window& w, std::uint32_t id, const KeyState<M>& key, Time from,
                        Time to, Emission<M>& out) {
    Time t;
    for (Time at = from; key.store.next(at, t) && t < to; at = t + 1)
      roll(w, id, key, t, false, out);
  }
  void roll(const Window& w, std::uint32_t id, const KeyState<M>& key, Time t, bool early,
            Emission<M>& out) {
    const Time start = t - w.size + 1;
    if (w.since == kNever || start >= w.since) say(w, id, key, start, t + 1, start, t, early, out);
  }

  void correct_fixed(const Window& w, std::uint32_t id, const KeyState<M>& key,
                     const std::vector<Time>& times, Time watermark, Time next, Emission<M>& out) {
    const bool early = emit_ == Emit::updates;
    std::int64_t done = std::numeric_limits<std::int64_t>::min();
    for (const Time t : times) {
      if (t >= watermark && !early) return;  // they ascend
      std::int64_t k = std::max(done, w.ending_after(t));
      for (; w.exists(k) && w.start(k) <= t; ++k) {
        const bool again = w.end(k) <= watermark;
        if (!again && !early) break;
        if (again || w.end(k) > next)
          say(w, id, key, w.start(k), w.end(k), w.start(k), w.end(k) - 1, !again, out);
      }
      done = k;
    }
  }
  void correct_rolling(const Window& w, std::uint32_t id, const KeyState<M>& key,
                       const std::vector<Time>& times, Time watermark, Time next,
                       Emission<M>& out) {
    const bool early = emit_ == Emit::updates;
    Time at = kEarliest, found;
    for (const Time t : times) {
      if (t >= watermark && !early) return;
      for (at = std::max(at, t); key.store.next(at, found) && found < t + w.size; at = found + 1) {
        const bool again = found < watermark;
        if (!again && !early) break;
        if (again || found >= next) roll(w, id, key, found, !again, out);
      }
    }
  }

  // One window, [first, last] in the store: what is to be said of it, if anything is new.
  void say(const Window& w, std::uint32_t id, const KeyState<M>& key, Time start, Time due,
           Time first, Time last, bool early, Emission<M>& out) {
    poll();
    key.store.query(m_, first, last, fold_.get());
    const Saying* said = key.told ? key.told->find(w.id, start, due) : nullptr;
    out.outcomes.push(fold_.get());
    if (listing_) {
      const Saying now{due, start, w.id, said != nullptr ? said->revision : 0, true};
      return put(w, id, now, due <= told_to_ ? Change::complete : Change::update, out);
    }
    if (said == nullptr)
      return add(w, id, {due, start, w.id, 0, true}, early ? Change::update : Change::complete,
                 out);
    const std::size_t at = key.told->index(said);
    const bool again = !early && said->standing && !told_early(*said);
    if (said->standing && (early || again) &&
        key.told->outcomes.same(at, out.outcomes, out.outcomes.size() - 1))
      return out.outcomes.pop();
    const Saying now{due, start, w.id, said->revision + 1, true};
    if (emit_ == Emit::changelog && said->standing) {
      out.outcomes.pop();
      out.outcomes.push_copy(key.told->outcomes, at);
      Saying old = *said;
      old.standing = false;
      put(w, id, old, Change::retract, out);
      out.outcomes.push(fold_.get());
    }
    add(w, id, now, early ? Change::update : again ? Change::correction : Change::complete, out);
  }
  bool told_early(const Saying& s) const { return emit_ == Emit::updates && s.due > told_to_; }
  void add(const Window& w, std::uint32_t id, const Saying& now, Change change, Emission<M>& out) {
    put(w, id, now, emit_ == Emit::changelog ? Change::insert : change, out);
  }
  static void put(const Window& w, std::uint32_t id, const Saying& s, Change change,
                  Emission<M>& out) {
    out.rows.push_back({id, s, change, w.shown_start(s.start), w.shown_end(s.due)});
  }
  M m_;
  Emit emit_;
  bool keeps_;
  bool listing_ = false;
  Time told_to_ = kEarliest;
  Held<M> fold_;
};

}  // namespace sash::slicing
