// Blocks of memory. Large ones are mapped one by one, so that they go back to the system as soon as
// they are given up, wherever they lie; the C library would keep them for the lack of a free end.
#pragma once

#include <sys/mman.h>

#include <cstddef>
#include <new>

namespace sash::tree {

inline constexpr std::size_t kMapped = std::size_t{1} << 17;  // bytes from which on

inline void* take_block(std::size_t bytes) {
  if (bytes < kMapped) return ::operator new(bytes);
  void* made = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (made == MAP_FAILED) throw std::bad_alloc();
  return made;
}
inline void give_block(void* block, std::size_t bytes) {
  if (bytes < kMapped) ::operator delete(block);
  else munmap(block, bytes);
}

}  // namespace sash::tree
