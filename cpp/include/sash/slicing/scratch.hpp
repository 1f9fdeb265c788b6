// Memory that follows its use down again, at a cost that what was used before has paid for.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

namespace sash::slicing {

inline constexpr std::size_t kRoom = 1024;  // items that are kept in any case

// Empties what a batch has filled. A large one's memory is not kept for the small ones after it.
template <class T>
void drain(std::vector<T>& all) {
  const std::size_t used = all.size();
  all.clear();
  if (all.capacity() > kRoom + 16 * used) std::vector<T>().swap(all);
}

// So that the next push_back cannot fail.
template <class T>
void reserve_one(std::vector<T>& all) {
  if (all.size() == all.capacity()) all.reserve(2 * all.size() + 8);
}

// After items have left.
template <class T>
void give_back(std::vector<T>& all) {
  if (all.capacity() > kRoom / 16 + 4 * all.size()) all.shrink_to_fit();
}

}  // namespace sash::slicing
