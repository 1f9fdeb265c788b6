// coarse: a window of n rows that is asked once every g rows (FiBA, figure 18).
#pragma once

#include "measure.hpp"

namespace bench {

struct CoarseShape {
  explicit CoarseShape(const Args& args)
      : n(args.at_least("n", 1)), g(args.at_least("g", 1)), rounds(args.size("rounds", 1'000'000)) {
    if (n % g != 0)
      throw Usage("n=" + std::to_string(n) + " must be a multiple of g=" + std::to_string(g));
  }
  std::size_t n, g, rounds;
};

// Each row is an entry.
template <class W>
void coarse_rows(const Args& args, Report& report) {
  using K = typename W::Kind;
  const CoarseShape shape(args);
  W window(args, shape.n);
  Feed<K> feed(random_values(args.seed()));
  sash::Held<typename W::M> out(window.monoid());
  Checksum sum;
  Time time = 0;
  fill(window, shape.n, [&](std::size_t) { return time++; }, [&] { return feed.next(); });
  window.query(out.get());
  measure<is_flat<W>>(args, report, shape.rounds / shape.g, shape.g, [&](std::size_t i) {
    for (std::size_t j = 0; j < shape.g; ++j) {
      window.evict();
      window.insert(time++, feed.next());
    }
    window.query(out.get());
    K::observe(out.get(), sum, i);
  });
  finish(window, out.get(), sum, report);
}

// The g rows between two questions are one entry.
template <class W, class K>
void coarse_slices(const Args& args, Report& report) {
  using M = typename K::M;
  const CoarseShape shape(args);
  W window(args, shape.n / shape.g);
  Feed<K> feed(random_values(args.seed()));
  const M m = K::monoid();
  sash::Held<M> out(m), slice(m), entry(m);
  Checksum sum;
  Time time = 0;
  const auto next_slice = [&]() -> const typename M::Cell* {
    m.set_identity(slice.get());
    for (std::size_t j = 0; j < shape.g; ++j) {
      m.lift(entry.get(), feed.next());
      m.append(slice.get(), entry.get());
    }
    return slice.get();
  };
  for (std::size_t i = 0; i < shape.n / shape.g; ++i) window.insert(time++, next_slice());
  window.query(out.get());
  measure<is_flat<W>>(args, report, shape.rounds / shape.g, shape.g, [&](std::size_t i) {
    window.evict();
    window.insert(time++, next_slice());
    window.query(out.get());
    K::observe(out.get(), sum, i);
  });
  window.query(out.get());
  K::observe_all(out.get(), sum);
  sum.is_whole = K::whole;
  report.checksum = sum;
  report.bytes = window.bytes();
}

// By types, not by the alias template of a file: runs named after that would be one for all files.
template <class Rows, class Slices, class K>
void coarse(const Args& args, Report& report) {
  if (args.one_of("how", {"vanilla", "slices", "recompute"}) == "slices")
    coarse_slices<Slices, K>(args, report);
  else coarse_rows<Rows>(args, report);
}

}  // namespace bench
