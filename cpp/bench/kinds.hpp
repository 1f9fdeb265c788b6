// The aggregates of the benchmarks: their monoids, what goes in, and what is kept of an answer.
#pragma once

#include <cmath>
#include <memory>
#include <vector>

#include "report.hpp"
#include "rows.hpp"
#include "sash/coarse.hpp"
#include "sash/hashing.hpp"
#include "sash/more_scalars.hpp"
#include "sash/record.hpp"
#include "sash/sketches.hpp"

namespace bench {

// A scalar that everything is inlined of. An input is kept as S::In.
template <class S>
struct ScalarKind {
  using M = sash::Scalar<S>;
  using In = typename M::In;
  using Stored = typename S::In;
  static constexpr bool whole = std::is_same_v<typename S::Out, std::int64_t>;
  static M monoid() { return M{S{}}; }
  static Stored stored(double v, std::size_t) { return static_cast<Stored>(v); }
  static In in(const Stored& v) { return {v, true}; }
  static void observe(const typename M::Cell* state, Checksum& sum, std::size_t) {
    typename S::Out out{};
    if (S{}.lower(*state, out)) sum.add(out);
  }
  static void observe_all(const typename M::Cell* state, Checksum& sum) { observe(state, sum, 0); }
};

struct Sum : ScalarKind<sash::SumI64> {
  static constexpr const char* name = "sum";
};
struct Mean : ScalarKind<sash::Mean> {
  static constexpr const char* name = "mean";
};
struct GeoMean : ScalarKind<sash::GeoMean> {
  static constexpr const char* name = "geomean";
  static Stored stored(double v, std::size_t) { return std::fabs(v) + 1; }  // has a logarithm
};
struct Max : ScalarKind<sash::MaxF64> {
  static constexpr const char* name = "max";
};
struct MinCount : ScalarKind<sash::ExtremeCount<false, double>> {
  static constexpr const char* name = "mincount";
  static Stored stored(double v, std::size_t) { return std::fmod(v, 1024); }  // so that some tie
};
struct RelVar : ScalarKind<sash::RelativeVariation<double>> {
  static constexpr const char* name = "relvar";
};

struct StdDevOf : sash::Variance {
  StdDevOf() : Variance{1, true} {}
};
struct StdDev : ScalarKind<StdDevOf> {
  static constexpr const char* name = "stddev";
};

struct ArgMaxOf : sash::ArgExtreme<true, double> {
  struct In {
    double value;
    std::int64_t argument;
  };
  using Out = std::int64_t;
  State lift(In in) const {
    return lift_row({std::bit_cast<sash::Word>(in.value), std::bit_cast<sash::Word>(in.argument)});
  }
  bool lower(State s, Out& out) const {
    sash::Word word = 0;
    const bool there = lower_row(s, &word);
    return out = std::bit_cast<Out>(word), there;
  }
};
struct ArgMax : ScalarKind<ArgMaxOf> {
  static constexpr const char* name = "argmax";
  static Stored stored(double v, std::size_t i) { return {v, static_cast<std::int64_t>(i)}; }
};

inline std::uint64_t combines = 0;  // of all sums that count them

struct CountingSum : sash::SumI64 {
  State combine(State a, State b) const { return ++combines, a + b; }
  State remove_front(State s, State e) const { return ++combines, s - e; }
};
struct Counted : ScalarKind<CountingSum> {
  static constexpr const char* name = "counted";
};

// As sash.agg.bloom() runs it: a record whose states are 2 KB and whose entries are hashes.
struct Bloom {
  static constexpr const char* name = "bloom";
  static constexpr bool whole = true;
  static constexpr std::int64_t bits = 1 << 14, hashes = 4;
  using M = sash::Record;
  using In = sash::Row;
  using Stored = sash::Word;
  static M monoid() {
    std::vector<sash::Component> one{{&sash::bloom::ops, {{bits, hashes}, {}}, 0, -1}};
    return M(std::make_shared<const sash::RecordLayout>(std::move(one), 1));
  }
  static Stored stored(double v, std::size_t) { return sash::hash_of(v).low; }
  static In in(const Stored& hash) { return {&hash, 1}; }
  static void observe(const sash::Word* state, Checksum& sum, std::size_t i) {
    sum.whole += state[i % (bits / 64)];
  }
  static void observe_all(const sash::Word* state, Checksum& sum) {
    for (std::size_t i = 0; i < bits / 64; ++i) sum.whole = sum.whole * 31 + state[i];
  }
};

// Whole states of a kind as the entries of a window.
template <class K>
struct SlicesOf {
  static constexpr const char* name = K::name;
  using M = sash::StatesOf<typename K::M>;
  using In = typename M::In;
  static M monoid() { return M(K::monoid()); }
};

template <class K>
constexpr bool is_counted = std::is_same_v<K, Counted>;

template <class... K>
struct Kinds {};
using Replayed = Kinds<Sum, GeoMean, Bloom, Max, RelVar>;
using Sliced = Kinds<Sum, GeoMean, Bloom>;
using Main = Kinds<Sum, GeoMean, Bloom, Max, Counted>;
using More = Kinds<StdDev, Mean, ArgMax, MinCount, RelVar>;

// Values without end: those given, over and over.
template <class K>
class Feed {
 public:
  explicit Feed(const std::vector<double>& values) {
    values_.reserve(values.size());
    for (std::size_t i = 0; i < values.size(); ++i) values_.push_back(K::stored(values[i], i));
  }
  typename K::In next() {
    const typename K::Stored& value = values_[at_];
    if (++at_ == values_.size()) at_ = 0;
    return K::in(value);
  }
  // Goes on with value i.
  void go_to(std::size_t i) { at_ = i % values_.size(); }

 private:
  std::vector<typename K::Stored> values_;
  std::size_t at_ = 0;
};

}  // namespace bench
