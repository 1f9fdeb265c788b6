// What a run found out, and the clocks it is told by.
#pragma once

#include <time.h>

#include <array>
#include <bit>
#include <cstdint>
#include <map>
#include <string>
#include <vector>
#ifdef __x86_64__
#include <x86intrin.h>
#endif

namespace bench {

inline std::uint64_t nanoseconds(clockid_t clock) {
  timespec t;
  clock_gettime(clock, &t);
  return static_cast<std::uint64_t>(t.tv_sec) * 1'000'000'000 +
         static_cast<std::uint64_t>(t.tv_nsec);
}
inline std::uint64_t cpu_ns() { return nanoseconds(CLOCK_PROCESS_CPUTIME_ID); }

// The processor's own counter, where it has one: what was asked before is done before it is read,
// and nothing that comes later has begun.
inline std::uint64_t ticks() {
#ifdef __x86_64__
  unsigned core;
  const std::uint64_t now = __rdtscp(&core);
  _mm_lfence();
  return now;
#else
  return nanoseconds(CLOCK_MONOTONIC);
#endif
}

// Nothing is kept in registers, or computed, across this.
inline void forget_all() { asm volatile("" ::: "memory"); }

// How often something took how many ticks: 16 bins for each power of two, exact below 32.
class Latency {
 public:
  void add(std::uint64_t t) {
    ++bins_[bin(t)];
    ++count_;
    total_ += t;
    least_ = t < least_ ? t : least_;
    most_ = t > most_ ? t : most_;
  }
  std::string json(double ns_per_tick) const;

 private:
  static unsigned bin(std::uint64_t t) {
    if (t < 32) return static_cast<unsigned>(t);
    const unsigned shift = static_cast<unsigned>(std::bit_width(t)) - 5;
    return 16 * shift + static_cast<unsigned>(t >> shift);
  }
  static double middle(unsigned bin);
  double quantile(double q) const;

  std::array<std::uint64_t, 1024> bins_{};
  std::uint64_t count_ = 0, total_ = 0, least_ = ~std::uint64_t{0}, most_ = 0;
};

// A run of the same answers in the same order has the same checksum.
struct Checksum {
  std::uint64_t whole = 0;
  double total = 0;
  bool is_whole = true;
  void add(std::int64_t v) { whole += static_cast<std::uint64_t>(v); }
  void add(double v) { total += v; }
  bool operator==(const Checksum&) const = default;
  std::string text() const;
};

// Of each log2 size, how many there were.
using Histogram = std::map<unsigned, std::uint64_t>;

struct Report {
  std::vector<double> ns;  // cost per round or item of each chunk
  Checksum checksum;
  std::size_t rounds = 0;
  std::size_t bytes = 0;
  struct Combines {
    std::uint64_t insert = 0, evict = 0, query = 0;
  };
  bool counted = false, timed = false;
  Combines combines;
  Latency latency;
  std::map<std::string, Histogram> shape;

  double ns_per_tick() const;
  std::string json() const;

 private:
  std::uint64_t began_ns_ = nanoseconds(CLOCK_MONOTONIC), began_ticks_ = ticks();
};

}  // namespace bench
