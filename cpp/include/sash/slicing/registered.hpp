// WindowOperator: windows that are registered and given up, also while the stream runs.
#pragma once

#include "sash/slicing/window_operator.hpp"

namespace sash::slicing {

template <Monoid M>
Time WindowOperator<M>::add_window(Window w) {
  if (latest_ != kNever && w.since == kNever) w.since = latest_ + 1;
  const Time since = w.since;
  begin_change();
  windows_.windows.push_back(std::move(w));
  see_window(windows_.windows.back());
  slices_.journal.on = false;
  for (std::uint32_t id = 0; id < keys_.size(); ++id)
    if (keys_[id].live) enqueue(id, watermark_ + 1);
  whole_ = true;
  return since;
}

template <Monoid M>
Time WindowOperator<M>::add_window(RowWindow w) {
  if (latest_ != kNever && w.since == kNever) w.since = latest_ + 1;
  const Time since = w.since;
  rows_.windows.push_back(std::move(w));
  slices_.journal.on = false;
  return since;
}

template <Monoid M>
void WindowOperator<M>::list_window(int id, std::vector<Time> starts, std::vector<Time> ends) {
  for (Window& w : windows_.windows) {
    if (w.id != id) continue;
    w.starts = std::move(starts);
    w.ends = std::move(ends);
  }
  windows_.refresh();
}

template <Monoid M>
void WindowOperator<M>::remove_window(int id) {
  begin_change();
  take_out(id);
  whole_ = true;
}

template <Monoid M>
void WindowOperator<M>::take_out(int id) {
  slices_.journal.on = false;
  if (rows_.remove(id, keys_)) {
    for (std::uint32_t k = 0; k < keys_.size(); ++k)
      if (keys_[k].live) enqueue(k, watermark_ + 1);
    return;
  }
  std::ptrdiff_t session = 0, i = 0;
  for (; windows_.windows[static_cast<std::size_t>(i)].id != id; ++i)
    session += windows_.windows[static_cast<std::size_t>(i)].kind == Window::Kind::session;
  const bool is_session =
      windows_.windows[static_cast<std::size_t>(i)].kind == Window::Kind::session;
  windows_.windows.erase(windows_.windows.begin() + i);
  for (std::uint32_t k = 0; k < keys_.size(); ++k) {
    KeyState<M>& key = keys_[k];
    if (is_session && session < static_cast<std::ptrdiff_t>(key.sessions.size()))
      key.sessions.erase(key.sessions.begin() + session);
    if (key.told) key.told->drop_window(id);
    if (key.live) enqueue(k, watermark_ + 1);
  }
  see_windows();
}

template <Monoid M>
void WindowOperator<M>::see_windows() {
  windows_.refresh();
  rolling_ = false;
  session_ = -1;
  session_windows_ = 0;
  for (const Window& w : windows_.windows) note_kind(w);
}

template <Monoid M>
void WindowOperator<M>::see_window(const Window& w) {
  if (w.kind == Window::Kind::session && session_ >= 0 && w.size < windows_.least_gap())
    session_ = -1;
  windows_.see(w);
  note_kind(w);
}

template <Monoid M>
void WindowOperator<M>::note_kind(const Window& w) {
  rolling_ |= w.kind == Window::Kind::rolling;
  by_time_ |= !m_.commutative() || rolling_;
  if (w.kind != Window::Kind::session) return;
  if (w.size == windows_.least_gap() && session_ < 0) session_ = static_cast<int>(session_windows_);
  ++session_windows_;
}

}  // namespace sash::slicing
