// The windows whose edges are rows: which of them are to be told now, with what aggregate.
//
// A row that comes late moves all rows after it by one rank. So the windows from the first one that
// has it (or may end with it) on are cut anew, and compared with what was told, in order: a window
// that is there no more is withdrawn, one whose aggregate is another one is told again, a new one is
// told. Rows at or after the watermark change nothing that was told: no window is due before all
// rows up to its last are there.
#pragma once

#include "sash/slicing/row_track.hpp"
#include "sash/slicing/state_pool.hpp"
#include "sash/slicing/window_manager.hpp"

namespace sash::slicing {

template <Monoid M>
class RowManager {
 public:
  using Cell = typename M::Cell;
  RowManager(const M& m, Emit emit) : m_(m), emit_(emit), out_(m_), fresh_(m_) {}

  // A track after rows came, the first of them at rank `changed` (kNone: none did), and the
  // watermark moved.
  void tell(const RowWindow& w, std::uint32_t id, RowTrack<M>& track, Rank changed, Time watermark,
            Time limit, Emission<M>& out) {
    const Frames<M> frames(w, track);
    std::size_t keep = track.told.size();  // windows told before this one stand
    const bool loose = !w.by_count();      // a row right after a window may belong to it
    if (changed != kNone)
      while (keep > 0 && track.told[keep - 1].frame.hi + loose > changed) --keep;
    const bool early = emit_ == Emit::updates;
    if (early)
      while (keep > 0 && !track.told[keep - 1].complete) --keep;
    fresh_.clear();
    said_.clear();
    track.due = kForever;
    Rank next = keep < track.told.size() ? frames.again(track.told[keep]) : track.next;
    // The last frame is gone on from, unless rows came before its end or windows are told again.
    const bool again = changed != kNone && track.sweep && changed < track.sweep->end;
    if (again || keep < track.told.size() || early || !w.by_count()) track.sweep.reset();
    if (!track.sweep) track.sweep = std::make_unique<Sweep<M>>(m_);
    frames.each(next, [&](const Frame& f) {
      const bool complete = f.due <= watermark || watermark >= kEnd;
      if (!complete) track.due = std::min(track.due, f.due);
      if (!complete && !early) return false;
      aggregate(track, *track.sweep, f);
      said_.push_back({f, 0, complete});
      if (complete) next = frames.after(f);
      return true;
    });
    if (!w.by_count()) track.sweep.reset();
    compare(w, id, track, keep, out);
    track.next = next;
    track.settle(limit);
    const Rank told_from = track.told.empty()
                               ? frames.needed(next)
                               : std::min(frames.needed(next), track.told[0].frame.lo);
    track.drop_before(m_, told_from, w.marks);
  }
  // The windows that rows may still change, as they are now.
  void list(const RowWindow& w, std::uint32_t id, const RowTrack<M>& track, Time watermark,
            Emission<M>& out) {
    const Frames<M> frames(w, track);
    fresh_.clear();
    Sweep<M> sweep(m_);
    std::size_t i = 0;
    const Rank from = track.told.empty() ? track.next : frames.again(track.told[0]);
    frames.each(from, [&](const Frame& f) {
      aggregate(track, sweep, f);
      const bool told = i < track.told.size();
      const RowSaying now{f, told ? track.told[i].revision : 0, f.due <= watermark};
      put(w, id, now, now.complete ? Change::complete : Change::update, out);
      out.outcomes.push_copy(fresh_, i++);
      return true;
    });
  }
  static constexpr Rank kNone = std::numeric_limits<Rank>::max();

 private:
  // What is said now, in place of what was said from `keep` on.
  void compare(const RowWindow& w, std::uint32_t id, RowTrack<M>& track, std::size_t keep,
               Emission<M>& out) {
    std::size_t i = keep, j = 0;
    while (i < track.told.size() || j < said_.size()) {
      if (j == said_.size() || (i < track.told.size() && place(track.told[i]) < place(said_[j]))) {
        withdraw(w, id, track, i++, out);
      } else if (i == track.told.size() || place(said_[j]) < place(track.told[i])) {
        say(w, id, said_[j], j, said_[j].complete ? Change::complete : Change::update, out);
        ++j;
      } else {
        again(w, id, track, i++, j++, out);
      }
    }
    while (track.told.size() > keep) {
      track.told.pop_back();
      track.outcomes.pop();
    }
    for (std::size_t k = 0; k < said_.size(); ++k) {
      track.told.push_back(said_[k]);
      track.outcomes.push_copy(fresh_, k);
    }
  }
  // The same rows' times: what was said as number i is now number j.
  void again(const RowWindow& w, std::uint32_t id, RowTrack<M>& track, std::size_t i, std::size_t j,
             Emission<M>& out) {
    const RowSaying& old = track.told[i];
    RowSaying& now = said_[j];
    const bool same = track.outcomes.same(i, fresh_, j);
    now.revision = old.revision;
    if (same && (old.complete || !now.complete)) {
      now.complete = now.complete || old.complete;
      return;
    }
    // Of several windows with the same times, a reader could not tell which one changed.
    const bool one_of_many = neighbours(track.told, i) || neighbours(said_, j);
    now.revision = one_of_many ? 0 : now.revision + 1;
    if (one_of_many || emit_ == Emit::changelog) withdraw(w, id, track, i, out);
    say(w, id, now, j,
        !now.complete                  ? Change::update
        : old.complete && !one_of_many ? Change::correction
                                       : Change::complete,
        out);
  }
  static std::pair<Time, Time> place(const RowSaying& s) { return {s.frame.end, s.frame.start}; }
  static bool neighbours(const std::vector<RowSaying>& all, std::size_t i) {
    return (i > 0 && place(all[i - 1]) == place(all[i])) ||
           (i + 1 < all.size() && place(all[i + 1]) == place(all[i]));
  }
  void withdraw(const RowWindow& w, std::uint32_t id, const RowTrack<M>& track, std::size_t i,
                Emission<M>& out) {
    put(w, id, track.told[i], emit_ == Emit::changelog ? Change::retract : Change::withdrawn, out);
    out.outcomes.push_copy(track.outcomes, i);
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
    if (f.lo >= s.middle) {  // the front is used up: all there is becomes the front
      s.suffixes.clear();
      s.middle = f.hi;
      for (Rank r = f.hi; r-- > f.lo;) {
        const std::size_t n = s.suffixes.size();
        Cell* state = s.suffixes.add();
        if (n == 0) m_.copy_state(state, track.state(m_, r));
        else m_.combine(state, track.state(m_, r), s.suffixes[n - 1]);
      }
      m_.set_identity(s.back.get());
    } else {
      for (Rank r = s.end; r < f.hi; ++r)
        m_.combine(s.back.get(), s.back.get(), track.state(m_, r));
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
  std::vector<RowSaying> said_;
  Outcomes<M> fresh_;  // one for each
};

}  // namespace sash::slicing
