// Ending native loops early: for a signal, or because the call that they are part of has failed.
//
// Every loop that may run for long polls (sash/poll.hpp), and each poll comes here. On the main
// thread it runs Python's signal handlers. On a thread that works for a call of another one it looks
// at the flag of that call. The test hook raises at the n-th check of any thread.
#pragma once

#include <nanobind/nanobind.h>

#include <atomic>

namespace sash_py {

// Throws where the loop that polls is to end.
void check_signals();

// A flag that several threads work under: `with stop:` on a worker, `stop.set()` on any thread.
class Stop {
 public:
  void set() { set_ = true; }
  bool is_set() const { return set_; }

 private:
  std::atomic<bool> set_{false};
};

}  // namespace sash_py
