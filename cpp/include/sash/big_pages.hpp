// Big arrays on big pages: taking memory page by page would cost more than filling it.
#pragma once

#include <sys/mman.h>

#include <cstddef>
#include <cstdint>
#include <memory>

namespace sash {

inline void in_big_pages(void* data, std::size_t bytes) {
#ifdef MADV_HUGEPAGE
  constexpr std::uintptr_t page = std::uintptr_t{1} << 21;
  const auto from = (reinterpret_cast<std::uintptr_t>(data) + page - 1) & ~(page - 1);
  const auto to = (reinterpret_cast<std::uintptr_t>(data) + bytes) & ~(page - 1);
  if (from < to) madvise(reinterpret_cast<void*>(from), to - from, MADV_HUGEPAGE);
#endif
}

template <class T>
std::unique_ptr<T[]> big_array(std::size_t n) {
  auto made = std::make_unique_for_overwrite<T[]>(n);
  in_big_pages(made.get(), n * sizeof(T));
  return made;
}

}  // namespace sash
