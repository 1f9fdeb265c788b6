// Aggregates whose state is a run of words sized by a parameter: filters, sketches, short lists.
//
// Inputs of the hashed ones are already hashes (hashing.hpp). States combine in place; loops over
// plain words so that the compiler vectorises them.
#pragma once

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>

#include "sash/component.hpp"

namespace sash {

// ---- Bloom filter: ints = {bits (power of two), hash functions, [probe given, probe hash]} ------
namespace bloom {
inline std::size_t words(const Params& p) { return static_cast<std::size_t>(p.ints[0]) / 64; }
inline void identity(Word* s, const Params& p) { std::fill_n(s, words(p), 0); }
template <class F>
inline void each_bit(Word hash, const Params& p, F&& f) {
  const Word mask = static_cast<Word>(p.ints[0]) - 1;
  const Word second = (hash >> 32) | 1;
  for (std::int64_t i = 0; i < p.ints[1]; ++i, hash += second) f((hash & mask) / 64, hash % 64);
}
inline void absorb(Word* s, const Inputs& in, const Params& p) {
  each_bit(in.first, p, [&](Word word, Word bit) { s[word] |= Word{1} << bit; });
}
inline bool contains(const Word* s, Word hash, const Params& p) {
  bool all = true;
  each_bit(hash, p, [&](Word word, Word bit) { all &= (s[word] >> bit) & 1; });
  return all;
}
inline void combine(Word* d, const Word* a, const Word* b, const Params& p) {
  const std::size_t n = words(p);
  for (std::size_t i = 0; i < n; ++i) d[i] = a[i] | b[i];
}
inline bool lower(const Word* s, Word* out, const Params& p) {
  if (p.integer(2, 0) != 0) *out = contains(s, static_cast<Word>(p.ints[3]), p);
  else std::copy_n(s, words(p), out);
  return true;
}
inline std::size_t out_words(const Params& p) { return p.integer(2, 0) != 0 ? 1 : words(p); }
inline constexpr Ops ops{1,        true,   true,    words,   out_words,
                         identity, absorb, combine, nullptr, lower};
}  // namespace bloom

// ---- HyperLogLog: ints = {log2 of the registers, [registers wanted]}; an input is a coupon of a
// 26-bit address and, above it, the rank of the first one bit ------------------------------------
namespace hll {
inline std::size_t registers(const Params& p) { return std::size_t{1} << p.ints[0]; }
inline std::size_t words(const Params& p) { return registers(p) / 8; }
inline void identity(Word* s, const Params& p) { std::fill_n(s, words(p), 0); }
inline void absorb(Word* s, const Inputs& in, const Params& p) {
  auto* bytes = reinterpret_cast<unsigned char*>(s);
  unsigned char& slot = bytes[in.first & (registers(p) - 1)];
  slot = std::max(slot, static_cast<unsigned char>(in.first >> 26));
}
inline void combine(Word* d, const Word* a, const Word* b, const Params& p) {
  auto* to = reinterpret_cast<unsigned char*>(d);
  const auto* x = reinterpret_cast<const unsigned char*>(a);
  const auto* y = reinterpret_cast<const unsigned char*>(b);
  const std::size_t n = registers(p);
  for (std::size_t i = 0; i < n; ++i) to[i] = x[i] > y[i] ? x[i] : y[i];
}
// Ertl's estimator (2017): unbiased over the whole range, no tables. With m registers of which
// count[k] hold k, it corrects both ends, the empty registers by sigma and the full ones by tau.
inline double sigma(double x) {
  if (x == 1) return std::numeric_limits<double>::infinity();
  double y = 1, z = x, before;
  do {
    x *= x;
    before = z;
    z += x * y;
    y += y;
  } while (z != before);
  return z;
}
inline double tau(double x) {
  if (x == 0 || x == 1) return 0;
  double y = 1, z = 1 - x, before;
  do {
    x = std::sqrt(x);
    before = z;
    y /= 2;
    z -= (1 - x) * (1 - x) * y;
  } while (z != before);
  return z / 3;
}
inline double estimate(const Word* s, const Params& p) {
  const int q = 64 - static_cast<int>(p.ints[0]);
  // Eight counts side by side: neighbours are often equal, and would wait for each other.
  std::uint32_t parts[8][64] = {};
  for (std::size_t i = 0, n = words(p); i < n; ++i)
    for (std::size_t k = 0; k < 8; ++k) ++parts[k][(s[i] >> (8 * k)) & 63];
  std::int64_t count[66] = {};
  for (int r = 0; r < 64; ++r)
    for (const auto& part : parts) count[std::min(r, q + 1)] += part[r];
  const auto m = static_cast<double>(registers(p));
  double z = m * tau(1 - static_cast<double>(count[q + 1]) / m);
  for (int k = q; k >= 1; --k) z = 0.5 * (z + static_cast<double>(count[k]));
  z += m * sigma(static_cast<double>(count[0]) / m);
  return m * m / (2 * std::log(2.0)) / z;
}
inline bool lower(const Word* s, Word* out, const Params& p) {
  if (p.integer(1, 0) != 0) std::copy_n(s, words(p), out);
  else to_words(out, static_cast<std::int64_t>(std::llround(estimate(s, p))));
  return true;
}
inline std::size_t out_words(const Params& p) { return p.integer(1, 0) != 0 ? words(p) : 1; }
inline bool sound(const Word* s, const Params& p) {  // ranks are below 64
  return std::all_of(s, s + words(p), [](Word w) { return (w & 0xC0C0C0C0C0C0C0C0) == 0; });
}
inline constexpr Ops ops{1,      true,    true,    words, out_words, identity,
                         absorb, combine, nullptr, lower, sound};
}  // namespace hll

// ---- Count-min sketch: ints = {width (power of two), depth, [probe given, probe hash]} ----------
namespace countmin {
inline std::size_t words(const Params& p) {
  return static_cast<std::size_t>(p.ints[0] * p.ints[1]);
}
inline void identity(Word* s, const Params& p) { std::fill_n(s, words(p), 0); }
template <class F>
inline void each_counter(Word hash, const Params& p, F&& f) {
  const auto width = static_cast<Word>(p.ints[0]);
  const Word second = (hash >> 32) | 1;
  for (std::int64_t row = 0; row < p.ints[1]; ++row, hash += second)
    f(static_cast<Word>(row) * width + (hash & (width - 1)));
}
inline void absorb(Word* s, const Inputs& in, const Params& p) {
  each_counter(in.first, p, [&](Word i) { ++s[i]; });
}
inline void remove(Word* s, const Inputs& in, const Params& p) {
  each_counter(in.first, p, [&](Word i) { --s[i]; });
}
inline void combine(Word* d, const Word* a, const Word* b, const Params& p) {
  const std::size_t n = words(p);
  for (std::size_t i = 0; i < n; ++i) d[i] = a[i] + b[i];
}
inline bool lower(const Word* s, Word* out, const Params& p) {
  if (p.integer(2, 0) == 0) return std::copy_n(s, words(p), out), true;
  *out = ~Word{0};
  each_counter(static_cast<Word>(p.ints[3]), p, [&](Word i) { *out = std::min(*out, s[i]); });
  return true;
}
inline std::size_t out_words(const Params& p) { return p.integer(2, 0) != 0 ? 1 : words(p); }
inline constexpr Ops ops{1, true, true, words, out_words, identity, absorb, combine, remove, lower};
}  // namespace countmin

// ---- Histogram: doubles = ascending edges; bins [e0, e1), ..., the last one closed --------------
namespace histogram {
inline std::size_t words(const Params& p) { return p.doubles.size() - 1; }
inline void identity(Word* s, const Params& p) { std::fill_n(s, words(p), 0); }
template <class F>
inline void bin_of(double v, const Params& p, F&& f) {
  const auto& edges = p.doubles;
  if (!(v >= edges.front() && v <= edges.back())) return;  // outside, or NaN
  const auto at = std::upper_bound(edges.begin(), edges.end() - 1, v) - edges.begin();
  f(static_cast<std::size_t>(at - 1));
}
inline void absorb(Word* s, const Inputs& in, const Params& p) {
  bin_of(std::bit_cast<double>(in.first), p, [&](std::size_t i) { ++s[i]; });
}
inline void remove(Word* s, const Inputs& in, const Params& p) {
  bin_of(std::bit_cast<double>(in.first), p, [&](std::size_t i) { --s[i]; });
}
inline void combine(Word* d, const Word* a, const Word* b, const Params& p) {
  for (std::size_t i = 0, n = words(p); i < n; ++i) d[i] = a[i] + b[i];
}
inline bool lower(const Word* s, Word* out, const Params& p) {
  return std::copy_n(s, words(p), out), true;
}
inline constexpr Ops ops{1, true, true, words, words, identity, absorb, combine, remove, lower};
}  // namespace histogram

// ---- The k largest (ints = {k, 0}) or smallest (ints = {k, 1}) values, with repeats. The state is
// their number and their keys, best first; the output the same with values for keys --------------
template <class T>
struct TopK {
  static std::size_t words(const Params& p) { return static_cast<std::size_t>(p.ints[0]) + 1; }
  static void identity(Word* s, const Params& p) { std::fill_n(s, words(p), 0); }
  // Smallest-first is largest-first of the complement.
  static std::int64_t key(std::int64_t k, const Params& p) { return p.integer(1, 0) != 0 ? ~k : k; }
  static void absorb(Word* s, const Inputs& in, const Params& p) {
    const std::int64_t v = key(order_key(std::bit_cast<T>(in.first)), p);
    auto* keys = reinterpret_cast<std::int64_t*>(s + 1);
    const auto k = static_cast<Word>(p.ints[0]);
    if (s[0] == k && v <= keys[k - 1]) return;
    Word i = s[0] < k ? s[0]++ : k - 1;
    for (; i > 0 && keys[i - 1] < v; --i) keys[i] = keys[i - 1];
    keys[i] = v;
  }
  static void combine(Word* d, const Word* a, const Word* b, const Params& p) {
    const auto k = static_cast<Word>(p.ints[0]);
    const auto* x = reinterpret_cast<const std::int64_t*>(a + 1);
    const auto* y = reinterpret_cast<const std::int64_t*>(b + 1);
    Word i = 0, j = 0;  // how many of each are among the first k
    while (i + j < k && (i < a[0] || j < b[0])) ++(j == b[0] || (i < a[0] && x[i] >= y[j]) ? i : j);
    const Word n = i + j;
    // From the end, so that what is still to be read stands before what is written, also if d is a
    // or b.
    for (Word at = n; at > 0; --at) {
      const bool from_a = j == 0 || (i > 0 && x[i - 1] < y[j - 1]);
      d[at] = static_cast<Word>(from_a ? x[--i] : y[--j]);
    }
    std::fill(d + 1 + n, d + words(p), 0);
    d[0] = n;
  }
  static bool lower(const Word* s, Word* out, const Params& p) {
    out[0] = s[0];
    for (Word i = 1; i < words(p); ++i) {
      const std::int64_t k = key(static_cast<std::int64_t>(s[i]), p);
      if constexpr (std::is_same_v<T, double>) to_words(out + i, from_order_key(k));
      else to_words(out + i, k);
    }
    return s[0] != 0;
  }
  static bool sound(const Word* s, const Params& p) {
    const auto* keys = reinterpret_cast<const std::int64_t*>(s + 1);
    return s[0] <= static_cast<Word>(p.ints[0]) &&
           std::is_sorted(keys, keys + s[0], std::greater<std::int64_t>());
  }
  static constexpr Ops ops{1,      true,    true,    words, words, identity,
                           absorb, combine, nullptr, lower, sound};
};

// ---- The n-th youngest value: ints = {n}. The state is the n youngest, youngest first -----------
namespace nth_youngest {
inline std::size_t words(const Params& p) { return static_cast<std::size_t>(p.ints[0]) + 1; }
inline void identity(Word* s, const Params& p) { std::fill_n(s, words(p), 0); }
inline void absorb(Word* s, const Inputs& in, const Params& p) {
  const auto n = static_cast<std::size_t>(p.ints[0]);
  std::memmove(s + 2, s + 1, (n - 1) * sizeof(Word));
  s[1] = in.first;
  s[0] = std::min<Word>(s[0] + 1, n);
}
inline void precede(Word* s, const Inputs& in, const Params& p) {
  if (s[0] < static_cast<Word>(p.ints[0])) s[++s[0]] = in.first;
}
inline void combine(Word* d, const Word* a, const Word* b, const Params& p) {
  const auto n = static_cast<std::size_t>(p.ints[0]);
  const std::size_t young = b[0], old = std::min<std::size_t>(a[0], n - young);
  std::memmove(d + 1 + young, a + 1, old * sizeof(Word));  // before d, which may be a, changes
  std::memmove(d + 1, b + 1, young * sizeof(Word));
  std::fill(d + 1 + young + old, d + 1 + n, 0);
  d[0] = young + old;
}
inline bool lower(const Word* s, Word* out, const Params& p) {
  const auto n = static_cast<std::size_t>(p.ints[0]);
  *out = s[n];
  return s[0] == n;
}
inline std::size_t one(const Params&) { return 1; }
inline bool sound(const Word* s, const Params& p) { return s[0] <= static_cast<Word>(p.ints[0]); }
inline constexpr Ops ops{1,       false,   true,  words, one,   identity, absorb,
                         combine, nullptr, lower, sound, false, nullptr,  precede};
}  // namespace nth_youngest

}  // namespace sash
