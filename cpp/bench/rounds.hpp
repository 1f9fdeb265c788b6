// rounds: evict the oldest, insert one, query.
#pragma once

#include <random>

#include "measure.hpp"

namespace bench {

// Times that come up to d entries late, each by a random delay of its own.
class RandomDelays {
 public:
  RandomDelays(std::size_t n, std::size_t d, std::uint64_t seed) : n_(static_cast<Time>(n)) {
    std::mt19937_64 random(seed);
    for (Time& delay : delays_) delay = static_cast<Time>(random() % (d + 1));
  }
  static Time first(std::size_t i) { return static_cast<Time>(i) * kGap; }
  Time at(std::size_t i) const {
    const auto order = static_cast<Time>(i);
    return (n_ + order - delays_[i % delays_.size()]) * kGap + 1 + order % (kGap - 1);
  }

 private:
  static constexpr Time kGap = 1 << 24;  // room for those that come late
  Time n_;
  std::array<Time, 1 << 16> delays_;
};

// What each kind of operation combined, for sums that count.
class Tally {
 public:
  explicit Tally(Report& report) : report_(report) { report.counted = true; }
  template <class F>
  void count(std::uint64_t Report::Combines::* what, F&& f) {
    const std::uint64_t before = combines;
    f();
    report_.combines.*what += combines - before;
  }

 private:
  Report& report_;
};

template <class W, class TimeOf, class NextIn>
void rounds_with(const Args& args, Report& report, W& window, std::size_t rounds, TimeOf&& time_of,
                 NextIn&& next) {
  using K = typename W::Kind;
  sash::Held<typename W::M> out(window.monoid());
  Checksum sum;
  window.query(out.get());
  if constexpr (is_counted<K>) {
    Tally tally(report);
    measure<false>(args, report, rounds, 1, [&](std::size_t i) {
      tally.count(&Report::Combines::evict, [&] { window.evict(); });
      tally.count(&Report::Combines::insert, [&] { window.insert(time_of(i), next()); });
      tally.count(&Report::Combines::query, [&] { window.query(out.get()); });
      K::observe(out.get(), sum, i);
    });
  } else {
    measure<is_flat<W>>(args, report, rounds, 1, [&](std::size_t i) {
      window.evict();
      window.insert(time_of(i), next());
      window.query(out.get());
      K::observe(out.get(), sum, i);
    });
  }
  finish(window, out.get(), sum, report);
}

template <class W>
void rounds(const Args& args, Report& report) {
  const std::size_t n = args.at_least("n", 1), d = args.size("d", 0);
  const std::size_t rounds = args.size("rounds", 1'000'000);
  const bool random = args.one_of("delay", {"exact", "random"}) == "random";
  W window(args, n);
  const Times times(n, d);
  Feed<typename W::Kind> feed(random_values(args.seed()));
  const auto next = [&] { return feed.next(); };
  if (!W::any_order || !random) {
    fill(window, n, [&](std::size_t i) { return times.first(i); }, next);
    const auto from = static_cast<Time>(times.near());
    rounds_with(
        args, report, window, rounds, [from](std::size_t i) { return from + static_cast<Time>(i); },
        next);
  } else if constexpr (W::any_order) {
    const RandomDelays delays(n, d, args.seed());
    fill(window, n, RandomDelays::first, next);
    rounds_with(args, report, window, rounds, [&](std::size_t i) { return delays.at(i); }, next);
  }
}

}  // namespace bench
