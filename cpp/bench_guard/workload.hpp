// What the programs of the regression guard share.
//
// Each program fills its windows and hands the part to be counted to measure(). Callgrind counts
// what is inside guard_measured() and nothing else, and dumps after each call: the k-th part of its
// output belongs to the k-th line that the program prints, "name <tab> operations <tab> combines".
// Combines are those of Affine: the core's own monoids do not count theirs.
//
// All values are small whole numbers, so that sums of doubles are exact and answers can be compared.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>

#include "sash/scalars.hpp"

namespace guard {

using Time = std::int64_t;

void run();  // all workloads of one program

// `work` does so many operations and returns something that depends on all of their answers.
void measure(const char* name, std::size_t operations, const std::function<double()>& work);
void expect(bool holds, const char* name);  // or the program ends, naming the workload

class Random {
 public:
  std::uint64_t below(std::uint64_t n) {
    state_ = state_ * 6364136223846793005u + 1442695040888963407u;
    return (state_ >> 33) % n;
  }

 private:
  std::uint64_t state_ = 1;
};

inline sash::Nullable<double> value(std::size_t i) {  // of row i
  return {static_cast<double>(i * 797 % 1024), true};
}

// Rows as they arrive: row i is late by a random number of rows up to `most`. No two times are equal.
class Arrivals {
 public:
  explicit Arrivals(std::uint64_t most) : most_(most) {}
  Time time(std::size_t i) {
    const auto late = static_cast<Time>(most_ == 0 ? 0 : random_.below(most_ + 1));
    return (static_cast<Time>(i) - late) * kApart + static_cast<Time>(i % kApart);
  }

 private:
  static constexpr Time kApart = 8192;
  std::uint64_t most_;
  Random random_;
};

inline std::uint64_t combines = 0;

// x -> a x + b over words: not commutative. Counts its combines.
struct Affine {
  using In = double;
  struct State {
    std::uint64_t a, b;
  };
  static constexpr bool commutative = false, exact = true;
  State identity() const { return {1, 0}; }
  State lift(In v) const {
    const auto word = static_cast<std::uint64_t>(v);
    return {2 * word + 3, word};
  }
  State combine(State f, State g) const {
    ++combines;
    return {f.a * g.a, f.a * g.b + f.b};
  }
};

using Sum = sash::Scalar<sash::SumF64>;
using Mean = sash::Scalar<sash::Mean>;
using Maps = sash::Scalar<Affine>;

// A state as a number, to add up answers.
inline double number(double state) { return state; }
inline double number(const sash::Mean::State& state) { return state.sum; }
inline double number(const Affine::State& state) { return static_cast<double>(state.b >> 40); }

}  // namespace guard
