// share: a big window and a small one that is its youngest part, in two trees or in one.
#pragma once

#include <limits>

#include "measure.hpp"

namespace bench {

template <class W>
void share(const Args& args, Report& report) {
  using K = typename W::Kind;
  const std::size_t n = args.at_least("n", 1), small = args.at_least("small", 1);
  const std::size_t d = args.size("d", small / 2), rounds = args.size("rounds", 1'000'000);
  const bool twin = args.one_of("how", {"twin", "range"}) == "twin";
  if (d >= small || small > n)
    throw Usage("d=" + std::to_string(d) + " must be less than small=" + std::to_string(small) +
                ", and that no more than n=" + std::to_string(n));
  W big(args, n), little(args, small);
  const Times times(n, d);
  Feed<K> feed(random_values(args.seed()));
  const auto next = [&] { return feed.next(); };
  if (twin) {
    feed.go_to(n - small);
    fill(little, small, [&](std::size_t i) { return times.first(n - small + i); }, next);
  }
  feed.go_to(0);
  fill(big, n, [&](std::size_t i) { return times.first(i); }, next);

  sash::Held<typename W::M> out(big.monoid());
  Checksum sum;
  auto time = static_cast<Time>(times.near());
  const auto inside = static_cast<Time>(small - d);  // of the small window, older than the last d
  measure<false>(args, report, rounds, 1, [&](std::size_t i) {
    const typename K::In in = feed.next();
    big.evict();
    big.insert(time++, in);
    big.query(out.get());
    K::observe(out.get(), sum, i);
    if (twin) {
      little.evict();
      little.insert(time - 1, in);
      little.query(out.get());
    } else {
      big.query(time - inside, std::numeric_limits<Time>::max(), out.get());
    }
    K::observe(out.get(), sum, i);
  });
  finish(big, out.get(), sum, report);
  report.bytes += twin ? little.bytes() : 0;
}

}  // namespace bench
