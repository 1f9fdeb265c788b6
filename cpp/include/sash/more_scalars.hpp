// The rest of the small aggregates. They run as components of records.
#pragma once

#include <array>

#include "sash/component.hpp"

namespace sash {

struct CountRows : Count {
  static constexpr int inputs = 0;
};

// A float sum that entries are subtracted from: only a count can tell when no value is left.
struct CountedSum : Mean {
  bool lower(State s, Out& out) const { return out = s.sum, s.n != 0; }
};

// Mean of integers: exact until the final division. A count beyond its 32 bits would be another
// number; it sticks at the top instead, and is refused when lowered. (A sum asks only if it is 0.)
struct MeanI64 : SumI64 {
  using Out = double;
  static constexpr State too_many = State{0} - (State{1} << (shift - 1));
  State combine(State a, State b) const {
    State sum;
    return __builtin_add_overflow(a, b, &sum) ? ~State{0} : sum;
  }
  bool lower(State s, Out& out) const {
    if (s == 0) return false;
    if (s >= too_many)
      throw Overflow(
          "a mean of integers counts up to 2^32 - 1 values, and this window has more; "
          "aggregate it as float64 instead (dtype=float)");
    out = static_cast<double>(static_cast<long double>(total(s)) /
                              static_cast<long double>(count(s)));
    return true;
  }
};

struct VarianceBy : Variance {  // with its ddof and root from the parameters
  static VarianceBy from(const Params& p) {
    VarianceBy v;
    v.ddof = p.integer(0, 1);
    v.root = p.integer(1, 0) != 0;
    return v;
  }
};

struct VarianceI64 : VarianceBy {  // over integers
  using In = std::int64_t;
  static VarianceI64 from(const Params& p) { return {VarianceBy::from(p)}; }
  State lift(In v) const { return {1, static_cast<double>(v), 0}; }
};

struct GeoMeanI64 : GeoMean {
  using In = std::int64_t;
  State lift(In v) const { return GeoMean::lift(static_cast<double>(v)); }
};

// The mean of the first column, each value with the weight that the second one gives it.
struct WeightedMean {
  using In = double;
  static constexpr int inputs = 2;
  struct State {
    double sum, weight;
    std::int64_t n;
  };
  static constexpr bool commutative = true, exact = false;
  State identity() const { return {-0.0, -0.0, 0}; }
  State lift_row(const Inputs& in) const {
    if (!in.second_valid) return identity();
    const auto weight = std::bit_cast<double>(in.second);
    return {std::bit_cast<double>(in.first) * weight, weight, 1};
  }
  State combine(State a, State b) const {
    return {a.sum + b.sum, a.weight + b.weight, add_counts(a.n, b.n)};
  }
  static bool sound(const State& s) { return s.n >= 0; }
  bool lower_row(State s, Word* out) const {
    if (s.n == 0 || s.weight == 0) return false;
    return *out = std::bit_cast<Word>(s.sum / s.weight), true;
  }
};

template <class T>
T from_key(std::int64_t key) {
  if constexpr (std::is_same_v<T, double>) return from_order_key(key);
  else return key;
}

// The order where equal values must tie: there is one zero.
inline std::int64_t tie_key(double v) { return order_key(v + 0.0); }
inline std::int64_t tie_key(std::int64_t v) { return v; }

// How often the largest (smallest) value occurs.
template <bool Max, class T>
struct ExtremeCount {
  using In = T;
  using Out = std::int64_t;
  struct State {
    std::int64_t key, n;
  };
  static constexpr bool commutative = true, exact = true;
  State identity() const { return {Max ? kLowest : kHighest, 0}; }
  State lift(In v) const { return {tie_key(v), 1}; }
  State combine(State a, State b) const {
    if (a.n == 0) return b;
    if (b.n == 0) return a;
    if (a.key == b.key) return {a.key, add_counts(a.n, b.n)};
    return (Max ? a.key > b.key : a.key < b.key) ? a : b;
  }
  bool lower(State s, Out& out) const { return out = s.n, true; }
  static bool sound(const State& s) { return s.n >= 0; }
};

// The second column where the first is largest (smallest); the first such row wins.
template <bool Max, class T>
struct ArgExtreme {
  using In = T;
  static constexpr int inputs = 2;
  struct State {
    std::int64_t key;
    Word arg;
    Word flags;  // 1: some row, 2: its argument is not null
  };
  static constexpr bool commutative = false, exact = true;
  State identity() const { return {0, 0, 0}; }
  State lift_row(const Inputs& in) const {
    return {tie_key(std::bit_cast<T>(in.first)), in.second_valid ? in.second : 0,
            in.second_valid ? Word{3} : Word{1}};
  }
  State combine(State a, State b) const {
    if (a.flags == 0) return b;
    if (b.flags == 0) return a;
    return (Max ? b.key > a.key : b.key < a.key) ? b : a;
  }
  bool lower_row(State s, Word* out) const { return *out = s.arg, (s.flags & 2) != 0; }
};

// The first (last) value that is not null.
template <bool Last>
struct Edge {
  using In = Word;
  struct State {
    Word value, some;
  };
  static constexpr bool commutative = false, exact = true;
  State identity() const { return {0, 0}; }
  State lift(In v) const { return {v, 1}; }
  State combine(State a, State b) const {
    if constexpr (Last) return b.some ? b : a;
    else return a.some ? a : b;
  }
  bool lower_row(State s, Word* out) const { return *out = s.value, s.some != 0; }
};

// Smallest and largest together: range, and variation relative to the largest.
template <class T>
struct MinMax {
  using In = T;
  struct State {
    std::int64_t low, high;
  };
  static constexpr bool commutative = true, exact = true;
  State identity() const { return {kHighest, kLowest}; }
  State lift(In v) const { return {order_key(v), order_key(v)}; }
  State combine(State a, State b) const {
    return {a.low < b.low ? a.low : b.low, a.high > b.high ? a.high : b.high};
  }
  static bool empty(State s) { return s.low > s.high; }
};

template <class T>
struct Range : MinMax<T> {
  static constexpr bool overflows = !std::is_same_v<T, double>;
  using Out = T;
  using State = typename MinMax<T>::State;
  bool lower(State s, Out& out) const {
    if (this->empty(s)) return false;
    if constexpr (std::is_same_v<T, double>) {
      out = from_order_key(s.high) - from_order_key(s.low);
    } else if (__builtin_sub_overflow(s.high, s.low, &out)) {
      throw Overflow(
          "the range of this window does not fit in a 64-bit integer; "
          "aggregate it as float64 instead (dtype=float)");
    }
    return true;
  }
};

template <class T>
struct RelativeVariation : MinMax<T> {
  using Out = double;
  using State = typename MinMax<T>::State;
  bool lower(State s, Out& out) const {
    if (this->empty(s)) return false;
    const auto high = static_cast<double>(from_key<T>(s.high));
    out = difference(s) / high;
    return high != 0;
  }

 private:
  // Of integers it is exact before it is rounded: neighbours beyond 2^53 differ, their doubles do not.
  static double difference(State s) {
    if constexpr (std::is_same_v<T, double>) return from_order_key(s.high) - from_order_key(s.low);
    else
      return static_cast<double>(static_cast<std::uint64_t>(s.high) -
                                 static_cast<std::uint64_t>(s.low));
  }
};

struct Product {
  using In = double;
  using Out = double;
  struct State {
    double product;
    std::int64_t n;
  };
  static constexpr bool commutative = true, exact = false;
  State identity() const { return {1.0, 0}; }
  State lift(In v) const { return {v, 1}; }
  State combine(State a, State b) const { return {a.product * b.product, add_counts(a.n, b.n)}; }
  bool lower(State s, Out& out) const { return out = s.product, s.n != 0; }
  static bool sound(const State& s) { return s.n >= 0; }
};

struct ProductI64 : Product {
  using In = std::int64_t;
  State lift(In v) const { return {static_cast<double>(v), 1}; }
};

// Any (the largest) or all (the smallest) of truth values.
template <bool All>
struct Truth {
  using In = std::int64_t;
  using Out = std::int64_t;
  using State = std::int64_t;
  static constexpr bool commutative = true, exact = true;
  State identity() const { return All ? 2 : -1; }
  State lift(In v) const { return v != 0; }
  State combine(State a, State b) const { return All ? (a < b ? a : b) : (a > b ? a : b); }
  bool lower(State s, Out& out) const { return out = s, s != identity(); }
  static bool sound(State s) { return All ? s >= 0 && s <= 2 : s >= -1 && s <= 1; }
};

// First, last, smallest and largest value with their times: what a line chart needs of a pixel.
template <class T>
struct M4 {
  using In = T;
  static constexpr int inputs = 2;
  static constexpr std::size_t out_words = 8;
  struct Point {
    Word time, value;
  };
  struct State {
    Point first, last, low, high;
    Word some;
  };
  static constexpr bool commutative = false, exact = true;
  State identity() const { return {}; }
  State lift_row(const Inputs& in) const {
    if (!in.second_valid) return identity();
    const Point p{in.second, in.first};
    return {p, p, p, p, 1};
  }
  static std::int64_t key(Point p) { return order_key(std::bit_cast<T>(p.value)); }
  State combine(const State& a, const State& b) const {
    if (!a.some) return b;
    if (!b.some) return a;
    return {a.first, b.last, key(b.low) < key(a.low) ? b.low : a.low,
            key(b.high) > key(a.high) ? b.high : a.high, 1};
  }
  bool lower_row(const State& s, Word* out) const {
    std::memcpy(out, &s, out_words * sizeof(Word));
    return s.some != 0;
  }
};

}  // namespace sash
