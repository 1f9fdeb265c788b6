// WindowOperator: what is asked of it while it runs.
#pragma once

#include "sash/slicing/window_operator.hpp"

namespace sash::slicing {

template <Monoid M>
bool WindowOperator<M>::cuts(std::uint32_t id, Time t, Bounds& slice) const {
  const KeyState<M>& key = keys_[id];
  if (by_time_) return false;
  Bounds fixed = windows_.bounds(t);
  Time found, last = kNever;
  for (Time at = fixed.begin; key.store.next(at, found) && found < t; at = found + 1) last = found;
  if (last == kNever) return false;
  slice = fixed;
  if (session_ >= 0) {
    Interval all{last, last};
    if (static_cast<std::size_t>(session_) < key.sessions.size())
      key.sessions[static_cast<std::size_t>(session_)].around(last, all);
    slice = {last, std::min(fixed.end, all.last + 1)};
  }
  return slice.begin < t && t < slice.end;
}

template <Monoid M>
const typename M::Cell* WindowOperator<M>::query(std::uint32_t id, Time from, Time to) {
  require_whole();
  keys_[id].store.query(m_, from, to - 1, fold_.get());
  return fold_.get();
}

template <Monoid M>
const Emission<M>& WindowOperator<M>::list(const std::uint32_t* ids, std::size_t n) {
  require_whole();
  emission_.clear();
  manager_.set_watermark(watermark_);
  for (const std::uint32_t* id = ids; id != ids + n; ++id) {
    if (*id >= keys_.size()) continue;
    manager_.list(windows_, *id, keys_[*id], limit(), emission_);
    rows_.list(*id, keys_[*id], watermark_, limit(), emission_);
  }
  return emission_;
}

}  // namespace sash::slicing
