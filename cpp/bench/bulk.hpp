// bulk: evict the oldest m, insert m, query once.
#pragma once

#include "measure.hpp"

namespace bench {

#ifdef SASH_FREE_AT_ONCE
inline constexpr const char* kFrees = "once";
#else
inline constexpr const char* kFrees = "later";
#endif

// Times one part of a round among others: all of it, or the eviction or the insertion alone.
class PartClock {
 public:
  PartClock(const std::string& part, Report& report)
      : evict_(part == "evict"), insert_(part == "insert"), report_(report) {}
  template <class F>
  void evict(F&& f) {
    if (evict_) timed(f);
    else f();
  }
  template <class F>
  void insert(F&& f) {
    if (insert_) timed(f);
    else f();
  }
  bool whole() const { return !evict_ && !insert_; }
  std::uint64_t take() { return std::exchange(spent_, 0); }

 private:
  template <class F>
  void timed(F&& f) {
    const std::uint64_t before = ticks();
    f();
    const std::uint64_t took = ticks() - before;
    spent_ += took;
    report_.latency.add(took);
  }
  bool evict_, insert_;
  Report& report_;
  std::uint64_t spent_ = 0;
};

struct BulkShape {
  explicit BulkShape(const Args& args)
      : n(args.at_least("n", 1)),
        m(args.at_least("m", 1)),
        d(args.size("d", 0)),
        rounds(args.size("rounds", 1'000'000 / m + 3)),
        bulk_evict(args.one_of("evict", {"bulk", "single"}) == "bulk"),
        bulk_insert(args.one_of("insert", {"bulk", "single"}) == "bulk"),
        part(args.one_of("part", {"all", "evict", "insert"})) {
    if (args.one_of("free", {"later", "once"}) != kFrees)
      throw Usage(std::string("this program was compiled with free=") + kFrees +
                  ": sash-bench frees later, sash-bench-once at once");
    if (m + d > n)
      throw Usage("m=" + std::to_string(m) + " and d=" + std::to_string(d) +
                  " together must not be more than n=" + std::to_string(n));
  }
  std::size_t n, m, d, rounds;
  bool bulk_evict, bulk_insert;
  std::string part;
};

// Evictions or insertions alone: told by the processor's clock, as their share of the CPU time.
template <class F>
void measure_part(const Args& args, Report& report, const BulkShape& shape, PartClock& clock,
                  F&& round) {
  const std::size_t parts = args.parts(shape.rounds, shape.m);
  report.timed = args.flag("latency");
  report.rounds = shape.rounds;
  for (std::size_t p = 0; p < parts; ++p) {
    const std::size_t from = shape.rounds * p / parts, to = shape.rounds * (p + 1) / parts;
    const std::uint64_t cpu = cpu_ns(), began = ticks();
    run_rounds(from, to, round);
    const double share = static_cast<double>(clock.take()) / static_cast<double>(ticks() - began);
    report.ns.push_back(static_cast<double>(cpu_ns() - cpu) * share /
                        static_cast<double>((to - from) * shape.m));
  }
}

template <class W>
void bulk(const Args& args, Report& report) {
  using K = typename W::Kind;
  const BulkShape shape(args);
  W window(args, shape.n);
  const Times times(shape.n, shape.d);
  Feed<K> feed(random_values(args.seed()));
  const auto next = [&] { return feed.next(); };
  fill(window, shape.n, [&](std::size_t i) { return times.first(i); }, next);

  sash::Held<typename W::M> out(window.monoid());
  window.query(out.get());
  Checksum sum;
  Time oldest = 0, youngest = static_cast<Time>(times.near());
  std::vector<Time> batch(shape.m);
  PartClock clock(shape.part, report);
  const auto round = [&](std::size_t i) {
    for (Time& t : batch) t = youngest++;
    oldest += static_cast<Time>(shape.m);
    clock.evict([&] {
      if (shape.bulk_evict) window.evict_many(shape.m, oldest - 1);
      else
        for (std::size_t j = 0; j < shape.m; ++j) window.evict();
    });
    clock.insert([&] {
      if (shape.bulk_insert) window.insert_many(batch.data(), shape.m, next);
      else
        for (const Time t : batch) window.insert(t, next());
    });
    window.query(out.get());
    K::observe(out.get(), sum, i);
  };
  if (clock.whole()) measure<false>(args, report, shape.rounds, shape.m, round);
  else measure_part(args, report, shape, clock, round);
  if (window.size() != shape.n) throw std::logic_error("bulk: entries were lost");
  finish(window, out.get(), sum, report);
}

}  // namespace bench
