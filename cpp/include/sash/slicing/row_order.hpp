// The rows of a batch that count, those of each key together, as they arrived or in order of time.
#pragma once

#include <span>

#include "sash/rolling/sort_rows.hpp"
#include "sash/slicing/scratch.hpp"
#include "sash/slicing/windows.hpp"

namespace sash::slicing {

class RowOrder {
 public:
  using Item = rolling::Keyed;
  // f(key, rows) for each key; the rows as they arrived. ids null: all have key 0.
  template <class F>
  void each_key(const std::uint32_t* ids, std::size_t n, const std::vector<std::uint32_t>& late,
                F&& f) {
    drain(items_);
    if (spare_.size() > kRoom + 16 * n) std::vector<Item>().swap(spare_);
    items_.reserve(n);
    auto skip = late.begin();
    for (std::uint32_t i = 0; i < n; ++i) {
      if (skip != late.end() && *skip == i) ++skip;
      else items_.push_back({ids != nullptr ? ids[i] : 0, i});
    }
    if (ids != nullptr) sort(items_);
    for (std::size_t i = 0, j; i < items_.size(); i = j) {
      for (j = i + 1; j < items_.size() && items_[j].key == items_[i].key;) ++j;
      f(static_cast<std::uint32_t>(items_[i].key), std::span(items_.data() + i, j - i));
    }
  }
  // Sorts by time; rows of equal time stay as they arrived.
  void by_time(std::span<Item> rows, const Time* times) {
    for (Item& r : rows)
      r.key = static_cast<std::uint64_t>(times[r.row]) ^ (std::uint64_t{1} << 63);
    const auto earlier = [](const Item& a, const Item& b) { return a.key < b.key; };
    if (!std::is_sorted(rows.begin(), rows.end(), earlier)) sort(rows);
  }

 private:
  void sort(std::span<Item> items) {
    if (spare_.size() < items.size()) spare_.resize(items.size());
    rolling::radix_sort(items.data(), spare_.data(), items.size(), items.size() < 100'000 ? 8 : 11);
  }
  std::vector<Item> items_, spare_;
};

}  // namespace sash::slicing
