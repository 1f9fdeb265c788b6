// Rounds in parts, each with its cost.
#pragma once

#include "window.hpp"

namespace bench {

template <class F>
void run_rounds(std::size_t from, std::size_t to, F& round) {
  for (std::size_t i = from; i < to; ++i) {
    round(i);
    forget_all();
  }
}
// The same with everything inlined into one loop, as the Python package slides small aggregates.
template <class F>
[[gnu::flatten]] void run_flat(std::size_t from, std::size_t to, F& round) {
  run_rounds(from, to, round);
}
template <class F>
void run_timed(std::size_t from, std::size_t to, F& round, Latency& latency) {
  for (std::size_t i = from; i < to; ++i) {
    const std::uint64_t before = ticks();
    round(i);
    latency.add(ticks() - before);
  }
}

// Which windows are inlined into the loop.
template <class W>
constexpr bool is_flat = !W::any_order && W::M::fixed_cells != 0;

// Runs round(i) for the rounds of one part, `items` of them each.
template <bool Flat, class F>
void measure_one(Report& report, std::size_t from, std::size_t to, std::size_t items, F& round) {
  const std::uint64_t before = cpu_ns();
  if (report.timed) run_timed(from, to, round, report.latency);
  else if constexpr (Flat) run_flat(from, to, round);
  else run_rounds(from, to, round);
  report.ns.push_back(static_cast<double>(cpu_ns() - before) /
                      static_cast<double>((to - from) * items));
}

template <bool Flat, class F>
void measure(const Args& args, Report& report, std::size_t rounds, std::size_t items, F&& round) {
  const std::size_t parts = args.parts(rounds, items);
  report.timed = args.flag("latency");
  report.rounds = rounds;
  for (std::size_t p = 0; p < parts; ++p)
    measure_one<Flat>(report, rounds * p / parts, rounds * (p + 1) / parts, items, round);
}

// Measures all of it so many times, and keeps the least cost of each part.
template <class F>
void least_of(const Args& args, Report& report, F&& again) {
  std::vector<double> least;
  for (std::size_t time = 0; time < args.size("times", 3); ++time) {
    report.ns.clear();
    again(time);
    if (time == 0) least = report.ns;
    for (std::size_t p = 0; p < least.size(); ++p) least[p] = std::min(least[p], report.ns[p]);
  }
  report.ns = std::move(least);
}

// The last answer as a whole, and what the window takes.
template <class W, class Cell>
void finish(W& window, Cell* out, Checksum& sum, Report& report) {
  using K = typename W::Kind;
  window.query(out);
  K::observe_all(out, sum);
  sum.is_whole = K::whole;
  report.checksum = sum;
  report.bytes = window.bytes();
}

}  // namespace bench
