// The Slice Manager: puts the slices of a batch where they belong in the stores (Scotty, VI).
//
// A slice is known by a time: the edge it begins at, or, with sessions, its first row; or, where the
// order of rows matters, the time of all its rows. Fixed edges are known in advance, so a slice
// never straddles one. With sessions there is one slice for each stretch of rows between two fixed
// edges and two gaps wider than the smallest; which of the cases of figure 4 a slice of the batch
// is, its session of the smallest gap tells:
//   1.1, 1.2  there is a slice that begins before it: their rows are added up
//   1.3       there is one that begins after it: it begins earlier now
//   2         there are several, between which the gap is closed: they become one
//   3         there is none: it is a slice of its own
#pragma once

#include <span>

#include "sash/slicing/key_state.hpp"
#include "sash/slicing/stream_slicer.hpp"

namespace sash::slicing {

template <Monoid M>
class SliceManager {
 public:
  using Cell = typename M::Cell;
  SliceManager(const M& m, Choice choice)
      : journal(), m_(m), choice_(choice), olds_(m_), sum_(m_) {}

  Journal journal;

  // Changes are kept until the next begin, so that they can be undone.
  void begin() {
    journal.begin();
    forget_changes();
  }
  // by_time: a slice for every moment. session: the number of the sessions with the smallest gap.
  void add(std::uint32_t id, KeyState<M>& key, const Slice& s, const Cell* state, bool by_time,
           int session) {
    if (by_time) return put(id, key, s.first, state);
    if (session < 0) return put(id, key, s.fixed.begin, state);
    Interval all{s.first, s.last};
    key.sessions[static_cast<std::size_t>(session)].around(s.first, all);
    const Time lo = std::max(s.fixed.begin, all.first), hi = std::min(s.fixed.end - 1, all.last);
    Time found, another;
    if (!key.store.next(lo, found) || found > hi) return put(id, key, s.first, state);
    const bool several = key.store.next(found + 1, another) && another <= hi;
    if (found <= s.first && !several) return put(id, key, found, state);
    m_.copy_state(sum_.get(), state);
    const Time first = std::min(found, s.first);
    do {
      m_.combine(sum_.get(), sum_.get(), key.store.find(m_, found));
      take(id, key, found);
    } while (key.store.next(lo, found) && found <= hi);
    put(id, key, first, sum_.get());
  }
  // Rows from first to last are in one session of each of these gaps.
  template <class Absorbed>
  Interval extend(std::uint32_t id, KeyState<M>& key, std::size_t session, Time gap, const Slice& s,
                  Absorbed&& absorbed) {
    reserve_one(sessions_);
    const std::size_t from = absorbed_.size();
    const auto added = key.sessions[session].add(s.first, s.last, gap, [&](const Interval& old) {
      absorbed_.push_back(old);
      absorbed(old);
    });
    if (added.changed) sessions_.push_back({id, session, added.now, from, absorbed_.size()});
    return added.now;
  }
  // What a snapshot says.
  void replace(KeyState<M>& key, Time t, const Cell* state) {
    key.store.remove(m_, t);
    key.store.add(m_, t, state, choice_);
  }

  template <class Keys>
  void undo(Keys& keys) {
    while (!places_.empty()) {
      const Place p = places_.back();
      places_.pop_back();
      KeyState<M>& key = keys[p.id];
      if constexpr (!M::nothrow) key.store.uproot(m_);  // a list calls no functions
      key.store.remove(m_, p.time);
      if (p.old != kNone) key.store.add(m_, p.time, olds_[p.old], Choice::lazy);
    }
    while (!sessions_.empty()) {
      const Grown g = sessions_.back();
      sessions_.pop_back();
      const auto olds = std::span(absorbed_).subspan(g.from, g.to - g.from);
      keys[g.id].sessions[g.session].take_back(g.now, olds);
    }
    forget_changes();
  }

 private:
  static constexpr std::size_t kNone = ~std::size_t{0};
  struct Place {
    std::uint32_t id;
    Time time;
    std::size_t old;  // where its state is kept
  };
  struct Grown {
    std::uint32_t id;
    std::size_t session;
    Interval now;
    std::size_t from, to;  // of the absorbed ones
  };
  void put(std::uint32_t id, KeyState<M>& key, Time t, const Cell* state) {
    keep(id, key, t);
    key.store.add(m_, t, state, choice_);
    journal.slice(id, t);
  }
  void take(std::uint32_t id, KeyState<M>& key, Time t) {
    keep(id, key, t);
    key.store.remove(m_, t);
    journal.slice(id, t);
  }
  void keep(std::uint32_t id, const KeyState<M>& key, Time t) {
    const Cell* old = key.store.find(m_, t);
    if (old != nullptr) m_.copy_state(olds_.add(), old);
    places_.push_back({id, t, old != nullptr ? olds_.size() - 1 : kNone});
  }
  void forget_changes() { drain(places_), drain(sessions_), drain(absorbed_), olds_.clear(); }
  M m_;
  Choice choice_;
  std::vector<Place> places_;
  StatePool<M> olds_;
  std::vector<Grown> sessions_;
  std::vector<Interval> absorbed_;
  Held<M> sum_;
};

}  // namespace sash::slicing
