// Hashes of values for sketches: MurmurHash3 x64 128 with the seed of Apache DataSketches, so that
// HyperLogLog registers of integers and strings mean the same to both.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>
#include <string_view>

#include "sash/monoid.hpp"

namespace sash {

struct Hash128 {
  Word low, high;
};

namespace detail {
inline Word scramble(Word k, Word times, int turn, Word times_again) {
  return std::rotl(k * times, turn) * times_again;
}
inline Word avalanche(Word k) {
  k = (k ^ (k >> 33)) * 0xff51afd7ed558ccdULL;
  k = (k ^ (k >> 33)) * 0xc4ceb9fe1a85ec53ULL;
  return k ^ (k >> 33);
}
inline Word little_endian(const char* from, std::size_t bytes) {
  Word w = 0;
  std::memcpy(&w, from, bytes);
  return w;
}
}  // namespace detail

inline Hash128 murmur3(std::string_view data, Word seed = 9001) {
  constexpr Word c1 = 0x87c37b91114253d5ULL, c2 = 0x4cf5ad432745937fULL;
  Word h1 = seed, h2 = seed;
  const std::size_t blocks = data.size() / 16;
  for (std::size_t i = 0; i < blocks; ++i) {
    h1 ^= detail::scramble(detail::little_endian(data.data() + 16 * i, 8), c1, 31, c2);
    h1 = (std::rotl(h1, 27) + h2) * 5 + 0x52dce729;
    h2 ^= detail::scramble(detail::little_endian(data.data() + 16 * i + 8, 8), c2, 33, c1);
    h2 = (std::rotl(h2, 31) + h1) * 5 + 0x38495ab5;
  }
  const std::string_view rest = data.substr(16 * blocks);
  if (rest.size() > 8)
    h2 ^= detail::scramble(detail::little_endian(rest.data() + 8, rest.size() - 8), c2, 33, c1);
  if (!rest.empty())
    h1 ^= detail::scramble(detail::little_endian(rest.data(), rest.size() < 8 ? rest.size() : 8),
                           c1, 31, c2);
  h1 ^= data.size();
  h2 ^= data.size();
  h1 += h2;
  h2 += h1;
  h1 = detail::avalanche(h1);
  h2 = detail::avalanche(h2);
  h1 += h2;
  return {h1, h2 + h1};
}

inline Hash128 hash_of(std::int64_t v) {
  char bytes[8];
  std::memcpy(bytes, &v, 8);
  return murmur3({bytes, 8});
}
// Equal numbers have equal hashes: a whole float hashes as the integer it equals; there is one NaN.
inline Hash128 hash_of(double v) {
  if (v >= -0x1p63 && v < 0x1p63 && v == static_cast<double>(static_cast<std::int64_t>(v)))
    return hash_of(static_cast<std::int64_t>(v));
  if (v != v) return hash_of(std::int64_t{0x7ff8000000000000});
  return hash_of(std::bit_cast<std::int64_t>(v));
}

// What HyperLogLog takes in: an address of 26 bits and, above it, the rank of the first one bit.
inline Word coupon(Hash128 h) {
  const int zeros = std::countl_zero(h.high);
  return (static_cast<Word>((zeros > 62 ? 62 : zeros) + 1) << 26) | (h.low & ((Word{1} << 26) - 1));
}

}  // namespace sash
