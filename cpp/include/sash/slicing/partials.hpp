// WindowOperator: slices that travel. Rows are folded where they are; only their slices go where
// windows are put together.
//
// A slice goes with its key, the time it is known by, the last time it covers, and its state. Where
// there are sessions, rows that follow it in its session may lie beyond a fixed edge: then it covers
// all times up to that edge. The slices of a session together cover exactly the session.
#pragma once

#include "sash/slicing/window_operator.hpp"

namespace sash::slicing {

template <Monoid M>
template <class F>
void WindowOperator<M>::each_slice(F&& f) const {
  require_whole();
  const bool spans = session_ >= 0 && !by_time_;
  for (std::uint32_t id = 0; id < keys_.size(); ++id) {
    const KeyState<M>& key = keys_[id];
    key.store.for_each(m_, [&](Time t, const Cell* state) {
      if (t == kNever) return;  // before every window there is
      Time last = t;
      if (spans) {
        Interval all{t, t};
        key.sessions[static_cast<std::size_t>(session_)].around(t, all);
        last = std::min(windows_.bounds(t).end - 1, all.last);
      }
      f(id, t, last, state);
    });
  }
}

template <Monoid M>
template <class Read, class Finish>
void WindowOperator<M>::merge(const std::uint32_t* ids, const Time* firsts, const Time* lasts,
                              std::size_t n, Read&& read, Finish&& finish) {
  require_whole();
  slicer_.take(windows_, watermark_, ids, firsts, lasts, n, read);
  change(watermark_, [&] {
    take_slices(watermark_);
    finish(emission_);
  });
  for (std::size_t i = 0; i < n; ++i) latest_ = std::max(latest_, lasts[i]);
}

}  // namespace sash::slicing
