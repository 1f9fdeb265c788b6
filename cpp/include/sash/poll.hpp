// Poll: long loops ask now and then whether they are to stop.
//
// A loop makes a `Poll` and calls it once for each row, or with the number of rows of a block. Every
// 20 to 100 ms it calls `Poll::check`, which the host sets and which throws to end the loop: the
// bindings run Python's signal handlers there. A loop that changes a structure polls only where the
// change can be undone.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>

namespace sash {

// How often loops ask. Tests set everything to the least, so that small inputs reach each poll.
struct Pace {
  std::size_t rows = 1024;                       // between two looks at the clock
  std::size_t block = std::size_t{1} << 14;      // of a loop that polls once for each block
  std::size_t long_call = std::size_t{1} << 20;  // simple rows that take long enough to poll
  std::chrono::nanoseconds pause = std::chrono::milliseconds(20);  // least, between two checks
};

class Poll {
 public:
  // Set once, before any loop runs. Called without the GIL, on the thread that runs the loop.
  static inline void (*check)() = nullptr;

  static inline Pace pace;

  void operator()(std::size_t rows = 1) {
    if (left_ > rows) [[likely]]
      left_ -= rows;
    else ask();
  }

  // Whether a call that inserts rows is to be undone by copying the window first: it takes long
  // enough to be interrupted, and the window is not so large that the copy is most of the work.
  // rows: counted as those of a small state; work: what each takes, in insertions at an end.
  static bool worth_copying(std::size_t rows, std::size_t work, std::size_t window) {
    return rows * work >= pace.long_call && window <= 2 * rows;
  }

 private:
  using Clock = std::chrono::steady_clock;
  [[gnu::noinline, gnu::cold]] void ask() {
    left_ = pace.rows;
    const Clock::time_point now = Clock::now();
    if (check == nullptr || now - asked_ < pause_) return;
    check();
    // Where another thread holds the GIL, a check waits for it: waiting stays below 5% of the time.
    asked_ = Clock::now();
    pause_ = std::clamp<std::chrono::nanoseconds>(20 * (asked_ - now), pace.pause, 5 * pace.pause);
  }
  std::size_t left_ = pace.rows;
  std::chrono::nanoseconds pause_ = pace.pause;
  Clock::time_point asked_ = Clock::now();
};

// Calls f(from, to) for blocks of [0, n), and polls after each. cost: what a row of the loop takes,
// in rows of a simple one.
template <class F>
void in_blocks(Poll& poll, std::size_t n, std::size_t cost, F&& f) {
  const std::size_t block = std::max<std::size_t>(1, Poll::pace.block / cost);
  for (std::size_t from = 0; from < n;) {
    const std::size_t rows = std::min(block, n - from);
    f(from, from + rows);
    from += rows;
    poll(rows * cost);
  }
}

}  // namespace sash
