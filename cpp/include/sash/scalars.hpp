// The small aggregates: a fixed struct of a few words, inlined into every structure.
//
// Mathematics. Each S below is lift / combine / lower (General Incremental Sliding-Window Aggregation, section 3). The state itself
// knows whether anything but nulls came in, so that an empty window lowers to null:
//   - a float sum starts from -0.0, which no sum of lifted values can be (lift turns -0.0 to +0.0);
//   - min and max of floats work on order-preserving integers, whose extremes no float maps to;
//     all NaNs are one NaN, greater than every number, as in Spark;
//   - integer sums are kept in 128 bits, the number of values in the upper 32: adding adds both,
//     no partial sum can overflow, and only a total beyond 64 bits is an error, when lowered.
#pragma once

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <stdexcept>
#include <type_traits>

#include "sash/monoid.hpp"

namespace sash {

// One input value, or null.
template <class T>
struct Nullable {
  T value{};
  bool valid = true;
};

struct Overflow : std::overflow_error {
  using std::overflow_error::overflow_error;
};

// ---- doubles as integers in the order of Spark: -inf < ... < -0 < +0 < ... < inf < NaN --------
inline std::int64_t order_key(double v) {
  if (v != v) return std::bit_cast<std::int64_t>(std::numeric_limits<double>::quiet_NaN());
  const auto bits = std::bit_cast<std::int64_t>(v);
  return bits ^ ((bits >> 63) & std::numeric_limits<std::int64_t>::max());
}
inline double from_order_key(std::int64_t key) {
  return std::bit_cast<double>(key ^ ((key >> 63) & std::numeric_limits<std::int64_t>::max()));
}
inline std::int64_t order_key(std::int64_t v) { return v; }

// Numbers of rows. What was loaded may claim any number of them: sums wrap around, and are defined.
inline std::int64_t add_counts(std::int64_t a, std::int64_t b) {
  return static_cast<std::int64_t>(static_cast<Word>(a) + static_cast<Word>(b));
}
inline std::int64_t take_counts(std::int64_t a, std::int64_t b) {
  return static_cast<std::int64_t>(static_cast<Word>(a) - static_cast<Word>(b));
}

inline constexpr std::int64_t kLowest = std::numeric_limits<std::int64_t>::min();
inline constexpr std::int64_t kHighest = std::numeric_limits<std::int64_t>::max();

struct Count {
  using In = Word;  // any value: only its presence matters
  using Out = std::int64_t;
  using State = std::int64_t;
  static constexpr bool commutative = true, exact = true;
  State identity() const { return 0; }
  State lift(In) const { return 1; }
  State combine(State a, State b) const { return add_counts(a, b); }
  State remove_front(State s, State e) const { return take_counts(s, e); }
  bool lower(State s, Out& out) const { return out = s, true; }
  static bool sound(State s) { return s >= 0; }
};

struct SumF64 {
  using In = double;
  using Out = double;
  using State = double;
  static constexpr bool commutative = true, exact = false;
  State identity() const { return -0.0; }
  State lift(In v) const { return v + 0.0; }
  State combine(State a, State b) const { return a + b; }
  bool lower(State s, Out& out) const {
    out = s;
    return std::bit_cast<Word>(s) != std::bit_cast<Word>(-0.0);
  }
};

// Sum and number of integers in one 128-bit number: sum + count * 2^96.
struct SumI64 {
  using In = std::int64_t;
  using Out = std::int64_t;
  using State = unsigned __int128;
  static constexpr bool commutative = true, exact = true, overflows = true;
  static constexpr int shift = 96;
  State identity() const { return 0; }
  State lift(In v) const {
    return static_cast<State>(static_cast<__int128>(v)) + (State{1} << shift);
  }
  State combine(State a, State b) const { return a + b; }
  State remove_front(State s, State e) const { return s - e; }
  static std::int64_t count(State s) {
    return static_cast<std::int64_t>((s + (State{1} << (shift - 1))) >> shift);
  }
  static __int128 total(State s) {
    return static_cast<__int128>(s - (static_cast<State>(count(s)) << shift));
  }
  bool lower(State s, Out& out) const {
    const __int128 sum = total(s);
    if (sum > kHighest || sum < kLowest)
      throw Overflow(
          "the sum of this window does not fit in a 64-bit integer; "
          "aggregate it as float64 instead (dtype=float)");
    out = static_cast<Out>(sum);
    return s != 0;
  }
};

// Mean, and geometric mean when Log: the mean of logarithms.
template <bool Log>
struct MeanOf {
  using In = double;
  using Out = double;
  struct State {
    double sum;
    std::int64_t n;
  };
  static constexpr bool commutative = true, exact = false;
  State identity() const { return {-0.0, 0}; }
  State lift(In v) const {
    if constexpr (Log) return {std::log(v), 1};
    else return {v, 1};
  }
  State combine(State a, State b) const { return {a.sum + b.sum, add_counts(a.n, b.n)}; }
  State remove_front(State s, State e) const
    requires(!Log)  // the logarithm of a zero does not come out again
  {
    return {s.sum - e.sum, take_counts(s.n, e.n)};
  }
  static bool sound(const State& s) { return s.n >= 0; }
  bool lower(State s, Out& out) const {
    if (s.n == 0) return false;
    const double mean = s.sum / static_cast<double>(s.n);
    out = Log ? std::exp(mean) : mean;
    return true;
  }
};
using Mean = MeanOf<false>;
using GeoMean = MeanOf<true>;

// Largest (or smallest) float.
template <bool Max>
struct ExtremeF64 {
  using In = double;
  using Out = double;
  using State = std::int64_t;
  static constexpr bool commutative = true, exact = true;
  State identity() const { return Max ? kLowest : kHighest; }
  State lift(In v) const { return order_key(v); }
  State combine(State a, State b) const { return Max ? (a > b ? a : b) : (a < b ? a : b); }
  bool lower(State s, Out& out) const {
    out = from_order_key(s);
    return s != identity();
  }
};
using MaxF64 = ExtremeF64<true>;
using MinF64 = ExtremeF64<false>;

template <bool Max>
struct ExtremeI64 {
  using In = std::int64_t;
  using Out = std::int64_t;
  struct State {
    std::int64_t key, some;
  };
  static constexpr bool commutative = true, exact = true;
  State identity() const { return {Max ? kLowest : kHighest, 0}; }
  State lift(In v) const { return {v, 1}; }
  State combine(State a, State b) const {
    return {Max ? (a.key > b.key ? a.key : b.key) : (a.key < b.key ? a.key : b.key),
            a.some | b.some};
  }
  bool lower(State s, Out& out) const { return out = s.key, s.some != 0; }
};
using MaxI64 = ExtremeI64<true>;
using MinI64 = ExtremeI64<false>;

// Variance by the stable pairwise merge (Chan, Golub, LeVeque); ddof 1 is the sample's.
struct Variance {
  using In = double;
  using Out = double;
  struct State {
    double n, mean, m2;
  };
  static constexpr bool commutative = true, exact = false;
  std::int64_t ddof = 1;
  bool root = false;
  State identity() const { return {0, 0, 0}; }
  State lift(In v) const { return {1, v, v - v}; }  // inf - inf and NaN - NaN: NaN, as they should
  State combine(State a, State b) const {
    const double n = a.n + b.n;
    if (a.n == 0) return b;
    if (b.n == 0) return a;
    const double delta = b.mean - a.mean, share = b.n / n;
    return {n, a.mean + delta * share, a.m2 + b.m2 + delta * delta * a.n * share};
  }
  bool lower(State s, Out& out) const {
    if (s.n <= static_cast<double>(ddof)) return false;
    const double variance = s.m2 / (s.n - static_cast<double>(ddof));
    out = root ? std::sqrt(variance) : variance;
    return true;
  }
  static bool sound(const State& s) { return s.n >= 0 && std::isfinite(s.n); }
};

// A scalar S as a Monoid: one cell, entry and state alike.
template <class S>
struct Scalar {
  using Cell = typename S::State;
  using In = Nullable<typename S::In>;
  static constexpr bool nothrow = true, trivial = true;
  static constexpr std::size_t fixed_cells = 1;
  S s;

  static constexpr std::size_t state_cells() { return 1; }
  static constexpr std::size_t entry_cells() { return 1; }
  static constexpr bool overflows() {  // may lower() throw?
    if constexpr (requires { S::overflows; }) return S::overflows;
    else return false;
  }
  static constexpr bool commutative() { return S::commutative; }
  static constexpr bool exact() { return S::exact; }
  void start(Cell*, std::size_t) const {}
  void drop_entry(Cell*) const {}
  void drop_state(Cell*) const {}
  void lift(Cell* e, const In& in) const { *e = in.valid ? s.lift(in.value) : s.identity(); }
  void set_identity(Cell* c) const { *c = s.identity(); }
  void copy_state(Cell* d, const Cell* a) const { *d = *a; }
  void copy_entry(Cell* d, const Cell* a) const { *d = *a; }
  void to_state(Cell* d, const Cell* e) const { *d = *e; }
  void append(Cell* d, const Cell* e) const { *d = s.combine(*d, *e); }
  void prepend(Cell* d, const Cell* e, const Cell* b) const { *d = s.combine(*e, *b); }
  void combine(Cell* d, const Cell* a, const Cell* b) const { *d = s.combine(*a, *b); }
  void merge_entry(Cell* e, const Cell* later) const { *e = s.combine(*e, *later); }
  void uncombine_front(Cell* d, const Cell* e) const
    requires requires { s.remove_front(*d, *e); }
  {
    *d = s.remove_front(*d, *e);
  }
  bool same_state(const Cell* a, const Cell* b) const {
    return std::memcmp(a, b, sizeof(Cell)) == 0;
  }
  bool sound(const Cell* c) const {
    if constexpr (requires { S::sound(*c); }) return S::sound(*c);
    else return true;
  }
};

}  // namespace sash
