// The order of rows by (key, time, arrival): what every rolling kernel walks along.
//
// Times are sorted by radix, only as many digits as their range has; then one counting pass brings
// the rows of each key together. Both are stable, so equal times keep their arrival order. Rows that
// are in order already cost one look each. Long loops poll.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <vector>

#include "sash/poll.hpp"

namespace sash::rolling {

struct Keyed {
  std::uint64_t key;
  std::uint32_t row;
};

// Sorts by key, stably. `spare` is as long as `items`; the result is in `items`.
inline void radix_sort(Keyed* items, Keyed* spare, std::size_t n, int digit_bits) {
  if (n < 64) {
    for (std::size_t i = 1; i < n; ++i) {
      const Keyed x = items[i];
      std::size_t j = i;
      for (; j > 0 && items[j - 1].key > x.key; --j) items[j] = items[j - 1];
      items[j] = x;
    }
    return;
  }
  std::uint64_t least = ~std::uint64_t{0}, most = 0;
  Poll poll;
  in_blocks(poll, n, 1, [&](std::size_t i, std::size_t stop) {
    for (; i < stop; ++i) {
      least = std::min(least, items[i].key);
      most = std::max(most, items[i].key);
    }
  });
  const std::uint64_t range = most - least;
  const std::uint64_t mask = (std::uint64_t{1} << digit_bits) - 1;
  std::vector<std::uint32_t> at(mask + 1);
  Keyed *from = items, *to = spare;
  for (int shift = 0; shift < 64 && (range >> shift) != 0; shift += digit_bits) {
    std::fill(at.begin(), at.end(), 0);
    in_blocks(poll, n, 1, [&](std::size_t i, std::size_t stop) {
      for (; i < stop; ++i) ++at[((from[i].key - least) >> shift) & mask];
    });
    std::uint32_t sum = 0;
    for (auto& a : at) {
      const std::uint32_t here = a;
      a = sum;
      sum += here;
    }
    in_blocks(poll, n, 1, [&](std::size_t i, std::size_t stop) {
      for (; i < stop; ++i) to[at[((from[i].key - least) >> shift) & mask]++] = from[i];
    });
    std::swap(from, to);
  }
  if (from != items) std::copy_n(from, n, items);
}

struct RowOrder {
  std::unique_ptr<std::uint32_t[]> rows;  // null: they are in order as they stand
  std::vector<std::size_t> starts;        // of each key's segment, and the number of rows
};

// Whether rows stand by key and time already.
inline bool in_order(const std::int32_t* keys, const std::int64_t* times, std::size_t n) {
  for (std::size_t i = 1; i < n; ++i)
    if (keys[i] < keys[i - 1] ||
        (keys[i] == keys[i - 1] && times != nullptr && times[i] < times[i - 1]))
      return false;
  return true;
}

// keys: codes in [0, groups), or null for one group. times: null if rows keep their order.
inline RowOrder sort_rows(const std::int32_t* keys, std::size_t groups, const std::int64_t* times,
                          std::size_t n) {
  RowOrder out;
  out.starts.assign((keys != nullptr ? groups : 1) + 1, 0);
  out.starts.back() = n;
  const bool in_time = times == nullptr || std::is_sorted(times, times + n);
  if (keys == nullptr && in_time) return out;

  std::vector<std::size_t>& starts = out.starts;
  Poll poll;
  if (keys != nullptr) {
    std::fill(starts.begin(), starts.end(), 0);
    in_blocks(poll, n, 1, [&](std::size_t i, std::size_t stop) {
      for (; i < stop; ++i) ++starts[static_cast<std::size_t>(keys[i]) + 1];
    });
    for (std::size_t k = 1; k < starts.size(); ++k) starts[k] += starts[k - 1];
  }
  if (keys == nullptr || !in_order(keys, times, n)) {
    std::unique_ptr<Keyed[]> items;
    if (!in_time) {
      items = std::make_unique_for_overwrite<Keyed[]>(n);
      auto spare = std::make_unique_for_overwrite<Keyed[]>(n);
      in_blocks(poll, n, 1, [&](std::size_t i, std::size_t stop) {
        for (; i < stop; ++i)
          items[i] = {static_cast<std::uint64_t>(times[i]) ^ (std::uint64_t{1} << 63),
                      static_cast<std::uint32_t>(i)};
      });
      radix_sort(items.get(), spare.get(), n, n < 100'000 ? 8 : 11);
    }
    out.rows = std::make_unique_for_overwrite<std::uint32_t[]>(n);
    std::vector<std::size_t> at(starts.begin(), starts.end() - 1);
    in_blocks(poll, n, 1, [&](std::size_t i, std::size_t stop) {
      for (; i < stop; ++i) {
        const std::uint32_t row = in_time ? static_cast<std::uint32_t>(i) : items[i].row;
        out.rows[at[keys != nullptr ? static_cast<std::size_t>(keys[row]) : 0]++] = row;
      }
    });
  }
  if (keys == nullptr) return out;
  starts.erase(std::unique(starts.begin(), starts.end()), starts.end());  // keys without rows
  if (starts.size() == 1) starts.push_back(n);                            // no rows at all
  return out;
}

}  // namespace sash::rolling
