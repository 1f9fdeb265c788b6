// The windows whose edges are rows: which of them are to be told now, with what aggregate.
//
// A row that comes late moves all rows after it by one rank. So the windows from the first one that
// has it (or may end with it) on are cut anew, and compared with what was told, in order: a window
// that is there no more is withdrawn, one whose aggregate is another one is told again, a new one is
// told. Rows at or after the watermark change nothing that was told: no window is due before all
// rows up to its last are there.
#pragma once

#include "sash/poll.hpp"
#include "sash/slicing/row_track.hpp"
#include "sash/slicing/state_pool.hpp"
#include "sash/slicing/window_manager.hpp"

namespace sash::slicing {

// What is new of one track: computed first, and made part of it when all of a call was computed.
struct TrackChange {
  std::uint32_t id;
  std::size_t window;
  std::size_t keep;      // windows emitted before this one are as they were
  std::size_t from, to;  // of those that follow them, among all that are new
  Rank next;
  Time due;
  Revisions revisions;
};

template <Monoid M>
class RowManager {
 public:
  using Cell = typename M::Cell;
  RowManager(const M& m, Emit emit) : m_(m), emit_(emit), out_(m_), fresh_(m_) {}

  Poll poll;  // once for each window

  const std::vector<TrackChange>& changes() const { return changes_; }
  void begin() {
    drain(changes_), drain(said_);
    fresh_.clear();
  }
  // A track after rows came, the first of them at rank `changed` (kNone: none did), and the
  // watermark moved. The track itself is changed by `apply`.
  void tell(const RowWindow& w, std::size_t window, std::uint32_t id, RowTrack<M>& track,
            Rank changed, Time watermark, Emission<M>& out) {
    const Frames<M> frames(w, track);
    std::size_t keep = track.told.size();  // windows told before this one stand
    const bool loose = !w.by_count();      // a row right after a window may belong to it
    if (changed != kNone)
      while (keep > 0 && track.told[keep - 1].frame.hi + loose > changed) --keep;
    const bool early = emit_ == Emit::updates;
    if (early)
      while (keep > 0 && !track.told[keep - 1].complete) --keep;
    Rank next = keep < track.told.size() ? frames.again(track.told[keep]) : track.next;
    const std::size_t from = said_.size();
    changes_.push_back({id, window, keep, from, from, next, kForever, track.revisions});
    // The last frame is gone on from, unless rows came before its end or windows are told again.
    const bool again = changed != kNone && track.sweep && changed < track.sweep->end;
    if (again || keep < track.told.size() || early || !w.by_count()) track.sweep.reset();
    if (!track.sweep) track.sweep = std::make_unique<Sweep<M>>(m_);
    frames.each(next, [&](const Frame& f) {
      poll();
      const bool complete = f.due <= watermark || watermark >= kEnd;
      if (!complete) changes_.back().due = std::min(changes_.back().due, f.due);
      if (!complete && !early) return false;
      aggregate(track, *track.sweep, f);
      said_.push_back({f, 0, complete});
      if (complete) next = frames.after(f);
      return true;
    });
    if (!w.by_count()) track.sweep.reset();
    changes_.back().to = said_.size();
    changes_.back().next = next;
    compare(w, changes_.back(), track, out);
  }
  // Makes a change part of its track.
  void apply(const RowWindow& w, const TrackChange& change, RowTrack<M>& track, Time limit) {
    while (track.told.size() > change.keep) {
      track.told.pop_back();
      track.outcomes.pop();
    }
    for (std::size_t k = change.from; k < change.to; ++k) {
      track.told.push_back(said_[k]);
      track.outcomes.push_copy(fresh_, k);
    }
    track.next = change.next;
    track.due = change.due;
    track.revisions = change.revisions;
    track.settle(limit);
    const Frames<M> frames(w, track);
    const Rank needed = frames.needed(track.next);
    track.drop_before(m_, track.told.empty() ? needed : std::min(needed, track.told[0].frame.lo));
  }
  // The windows that rows may still change, as they are now.
  void list(const RowWindow& w, std::uint32_t id, const RowTrack<M>& track, Time watermark,
            Time limit, Emission<M>& out) {
    const Frames<M> frames(w, track);
    fresh_.clear();
    Sweep<M> sweep(m_);
    std::size_t i = track.settled(limit);
    const Rank from = i == track.told.size() ? track.next : frames.again(track.told[i]);
    frames.each(from, [&](const Frame& f) {
      aggregate(track, sweep, f);
      const bool told = i < track.told.size();
      const RowSaying now{f, told ? track.told[i++].revision : 0, f.due <= watermark};
      put(w, id, now, now.complete ? Change::complete : Change::update, out);
      out.outcomes.push_copy(fresh_, fresh_.size() - 1);
      return true;
    });
  }
  static constexpr Rank kNone = std::numeric_limits<Rank>::max();

 private:
  // What is said now, in place of what was said from `keep` on.
  void compare(const RowWindow& w, TrackChange& change, const RowTrack<M>& track,
               Emission<M>& out) {
    std::size_t i = change.keep, j = change.from;
    top_of_ = {kNever, kNever};
    while (i < track.told.size() || j < change.to) {
      poll();
      if (j == change.to || (i < track.told.size() && place(track.told[i]) < place(said_[j]))) {
        withdraw(w, change, track, i++, out);
      } else if (i == track.told.size() || place(said_[j]) < place(track.told[i])) {
        said_[j].revision = revision_of_new(change, track, j, false);
        say(w, change.id, said_[j], j, said_[j].complete ? Change::complete : Change::update, out);
        ++j;
      } else {
        again(w, change, track, i++, j++, out);
      }
    }
    change.revisions.close();
  }
  std::int32_t revision_of_new(TrackChange& change, const RowTrack<M>& track, std::size_t j,
                               bool crowded) {
    Revisions& r = change.revisions;
    Place before{kNever, kNever};
    std::int32_t revision = 0;
    if (j > change.from || change.keep > 0) {
      const RowSaying& s = j > change.from ? said_[j - 1] : track.told[change.keep - 1];
      before = place(s), revision = s.revision;
    }
    return r.of_new(place(said_[j]), before, revision, crowded);
  }
  // The same rows' times: what was said as number i is now number j.
  void again(const RowWindow& w, TrackChange& change, const RowTrack<M>& track, std::size_t i,
             std::size_t j, Emission<M>& out) {
    const RowSaying& old = track.told[i];
    RowSaying& now = said_[j];
    const bool same = track.outcomes.same(i, fresh_, j);
    now.revision = old.revision;
    if (same && (old.complete || !now.complete)) {
      now.complete = now.complete || old.complete;
      return;
    }
    // Of several windows with the same times, a reader could not tell which one changed.
    const bool crowded = neighbours(track.told, change.keep, track.told.size(), i) ||
                         neighbours(said_, change.from, change.to, j);
    const bool anew =
        crowded || (!old.complete && !change.revisions.is_highest(place(old), old.revision));
    if (anew || emit_ == Emit::changelog) withdraw(w, change, track, i, out);
    now.revision = anew ? revision_of_new(change, track, j, crowded)
                        : change.revisions.of_next(place(old), old.revision);
    say(w, change.id, now, j,
        !now.complete           ? Change::update
        : old.complete && !anew ? Change::correction
                                : Change::complete,
        out);
  }
  static bool neighbours(const std::vector<RowSaying>& all, std::size_t from, std::size_t to,
                         std::size_t i) {
    return (i > from && place(all[i - 1]) == place(all[i])) ||
           (i + 1 < to && place(all[i + 1]) == place(all[i]));
  }
  void withdraw(const RowWindow& w, TrackChange& change, const RowTrack<M>& track, std::size_t i,
                Emission<M>& out) {
    const RowSaying& old = track.told[i];
    put(w, change.id, old, emit_ == Emit::changelog ? Change::retract : Change::withdrawn, out);
    out.outcomes.push_copy(track.outcomes, i);
    change.revisions.retract(place(old), top_at(track, i), track.time(track.end() - 1));
  }
  // The highest revision of the windows at the place of number i.
  std::int32_t top_at(const RowTrack<M>& track, std::size_t i) {
    const Place at = place(track.told[i]);
    if (at == top_of_) return top_;
    top_of_ = at;
    top_ = track.told[i].revision;
    for (std::size_t k = i; k-- > 0 && place(track.told[k]) == at;)
      top_ = std::max(top_, track.told[k].revision);
    for (std::size_t k = i + 1; k < track.told.size() && place(track.told[k]) == at; ++k)
      top_ = std::max(top_, track.told[k].revision);
    return top_;
  }
  void say(const RowWindow& w, std::uint32_t id, const RowSaying& s, std::size_t j, Change change,
           Emission<M>& out) {
    put(w, id, s, emit_ == Emit::changelog ? Change::insert : change, out);
    out.outcomes.push_copy(fresh_, j);
  }
  static void put(const RowWindow& w, std::uint32_t id, const RowSaying& s, Change change,
                  Emission<M>& out) {
    const Saying said{s.frame.due, s.frame.start, w.id, s.revision, true};
    out.rows.push_back({id, said, change, s.frame.start, s.frame.end, true});
  }

  void aggregate(const RowTrack<M>& track, Sweep<M>& s, const Frame& f) {
    typename RowList<M>::Reader rows(track.rows, m_);
    const auto state_of = [&](Rank r) {
      return rows[static_cast<std::size_t>(r - track.base)].state;
    };
    if (f.lo >= s.middle) {  // the front is used up: all there is becomes the front
      s.suffixes.clear();
      s.middle = f.hi;
      for (Rank r = f.hi; r-- > f.lo;) {
        const std::size_t n = s.suffixes.size();
        Cell* state = s.suffixes.add();
        if (n == 0) m_.copy_state(state, state_of(r));
        else m_.combine(state, state_of(r), s.suffixes[n - 1]);
      }
      m_.set_identity(s.back.get());
    } else {
      for (Rank r = s.end; r < f.hi; ++r) m_.combine(s.back.get(), s.back.get(), state_of(r));
    }
    s.end = f.hi;
    const Cell* front = s.suffixes[static_cast<std::size_t>(s.middle - f.lo) - 1];
    if (s.end == s.middle) return fresh_.push(front);
    m_.combine(out_.get(), front, s.back.get());
    fresh_.push(out_.get());
  }
  M m_;
  Emit emit_;
  Held<M> out_;
  std::vector<TrackChange> changes_;
  std::vector<RowSaying> said_;  // all that are new
  Outcomes<M> fresh_;            // one for each
  Place top_of_{kNever, kNever};
  std::int32_t top_ = 0;  // the highest revision there
};

}  // namespace sash::slicing
