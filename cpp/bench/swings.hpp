// fill_drain and oscillate: windows that grow and shrink.
#pragma once

#include "measure.hpp"

namespace bench {

// Swings between `low` and `n` entries. Queries follow every insert, and evicts where asked for.
template <class W>
void swing(const Args& args, Report& report, std::size_t low, std::size_t n, bool query_evicts) {
  using K = typename W::Kind;
  W window(args, n);
  Feed<K> feed(random_values(args.seed()));
  sash::Held<typename W::M> out(window.monoid());
  Checksum sum;
  Time time = 0;
  fill(window, low, [&](std::size_t) { return time++; }, [&] { return feed.next(); });
  window.query(out.get());
  const auto ask = [&](std::size_t i) {
    window.query(out.get());
    K::observe(out.get(), sum, i);
    forget_all();
  };
  const std::size_t items = (query_evicts ? 2 : 1) * (n - low);
  const std::size_t wanted = args.size("rounds", 1'000'000);
  const std::size_t swings = std::max<std::size_t>(3, (wanted + items - 1) / items);
  measure<is_flat<W>>(args, report, swings, items, [&](std::size_t) {
    for (std::size_t size = low; size < n; ++size) {
      window.insert(time++, feed.next());
      ask(size);
    }
    for (std::size_t size = n; size > low; --size) {
      window.evict();
      if (query_evicts) ask(size);
    }
  });
  report.rounds = swings * items;
  finish(window, out.get(), sum, report);
}

template <class W>
void fill_drain(const Args& args, Report& report) {
  swing<W>(args, report, 0, args.at_least("n", 1), false);
}

template <class W>
void oscillate(const Args& args, Report& report) {
  const std::size_t n = args.at_least("n", 2), low = args.size("low", n / 2);
  if (low >= n)
    throw Usage("low=" + std::to_string(low) + " must be less than n=" + std::to_string(n));
  swing<W>(args, report, low, n, true);
}

}  // namespace bench
