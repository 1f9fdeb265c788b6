// Poll: long loops ask now and then whether they are to stop.
//
// A loop makes a `Poll` and calls it once for each row, or with the number of rows of a block. About
// every 10 ms it calls `Poll::check`, which the host sets and which throws to end the loop: the
// bindings run Python's signal handlers there. A loop that changes a structure polls only where the
// change can be undone.
#pragma once

#include <chrono>
#include <cstddef>

namespace sash {

class Poll {
 public:
  // Set once, before any loop runs. Called without the GIL, on the thread that runs the loop.
  static inline void (*check)() = nullptr;

  void operator()(std::size_t rows = 1) {
    if (left_ > rows) [[likely]] left_ -= rows;
    else ask();
  }

 private:
  using Clock = std::chrono::steady_clock;
  static constexpr std::size_t kRows = 1024;  // between two looks at the clock
  static constexpr std::chrono::milliseconds kPause{10};

  [[gnu::noinline, gnu::cold]] void ask() {
    left_ = kRows;
    const Clock::time_point now = Clock::now();
    if (check == nullptr || now - asked_ < kPause) return;
    asked_ = now;
    check();
  }
  std::size_t left_ = kRows;
  Clock::time_point asked_ = Clock::now();
};

}  // namespace sash
