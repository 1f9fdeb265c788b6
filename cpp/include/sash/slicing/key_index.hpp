// KeyIndex: tuples of machine words to small numbers and back. Numbers of forgotten keys are used
// again. Open addressing with linear probing; a removal moves later entries of its run back.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <new>
#include <vector>

#include "sash/slicing/scratch.hpp"

namespace sash::slicing {

class KeyIndex {
 public:
  explicit KeyIndex(std::size_t width) : width_(width), slots_(16, kFree) {}

  std::size_t width() const { return width_; }
  std::size_t size() const { return used_; }
  std::size_t room() const { return width_ == 0 ? 0 : words_.size() / width_; }
  const std::int64_t* words(std::uint32_t id) const { return words_.data() + id * width_; }
  bool known(std::uint32_t id) const { return id < live_.size() && live_[id]; }

  // The number of a key; a new one if it is not known yet (`fresh` tells).
  std::uint32_t find_or_add(const std::int64_t* key, bool& fresh) {
    std::size_t i = start(key);
    for (; slots_[i] != kFree; i = next(i))
      if (equal(slots_[i], key)) return fresh = false, slots_[i];
    if (2 * (used_ + 1) > slots_.size()) {  // before anything changes: it may run out of memory
      rehash(2 * slots_.size());
      for (i = start(key); slots_[i] != kFree;) i = next(i);
    }
    const std::uint32_t id = free_number(key);
    slots_[i] = id;
    ++used_;
    fresh = true;
    return id;
  }
  void prefetch(const std::int64_t* key) const { __builtin_prefetch(&slots_[start(key)]); }
  void forget(std::uint32_t id) {
    if (!known(id)) return;
    std::size_t i = start(words(id));
    while (slots_[i] != id) i = next(i);
    for (std::size_t j = next(i); slots_[j] != kFree; j = next(j)) {
      const std::size_t home = start(words(slots_[j]));
      if (((j - home) & mask()) < ((j - i) & mask())) continue;  // it would stand before its home
      slots_[i] = slots_[j];
      i = j;
    }
    slots_[i] = kFree;
    live_[id] = false;
    --used_;
    while (!live_.empty() && !live_.back()) live_.pop_back();
    words_.resize(live_.size() * width_);
    try {
      if (id < live_.size()) {
        free_.push_back(id);
        std::push_heap(free_.begin(), free_.end(), std::greater<>());
      }
      if (slots_.size() > kLeast && 16 * used_ < slots_.size()) rehash(slots_.size() / 4);
    } catch (const std::bad_alloc&) {  // a number is not used again, or a table stays large
    }
    give_back(live_), give_back(words_);
  }

 private:
  static constexpr std::uint32_t kFree = ~std::uint32_t{0};
  static constexpr std::size_t kLeast = 64;

  // The smallest number that is free: numbers stay small when keys have gone.
  std::uint32_t free_number(const std::int64_t* key) {
    if (!free_.empty() && free_.front() < live_.size()) {
      std::pop_heap(free_.begin(), free_.end(), std::greater<>());
      const std::uint32_t id = free_.back();
      free_.pop_back();
      std::copy_n(key, width_, words_.begin() + static_cast<std::ptrdiff_t>(id * width_));
      live_[id] = true;
      return id;
    }
    drain(free_);  // all of them are beyond the end by now
    if (live_.size() == live_.capacity()) live_.reserve(2 * live_.size() + 8);
    words_.insert(words_.end(), key, key + width_);
    live_.push_back(true);
    return static_cast<std::uint32_t>(live_.size() - 1);
  }
  std::size_t mask() const { return slots_.size() - 1; }
  std::size_t next(std::size_t i) const { return (i + 1) & mask(); }
  std::size_t start(const std::int64_t* key) const {
    std::uint64_t h = 0x9E3779B97F4A7C15u;
    for (std::size_t c = 0; c < width_; ++c) {
      h ^= static_cast<std::uint64_t>(key[c]);
      h *= 0xD6E8FEB86659FD93u;
      h ^= h >> 32;
    }
    h *= 0xD6E8FEB86659FD93u;
    return (h ^ (h >> 29)) & mask();
  }
  bool equal(std::uint32_t id, const std::int64_t* key) const {
    const std::int64_t* its = words(id);
    for (std::size_t c = 0; c < width_; ++c)
      if (its[c] != key[c]) return false;
    return true;
  }
  void rehash(std::size_t size) {
    std::vector<std::uint32_t> old(size, kFree);
    old.swap(slots_);
    for (const std::uint32_t id : old) {
      if (id == kFree) continue;
      std::size_t i = start(words(id));
      while (slots_[i] != kFree) i = next(i);
      slots_[i] = id;
    }
  }
  std::size_t width_, used_ = 0;
  std::vector<std::uint32_t> slots_;
  std::vector<std::int64_t> words_;
  std::vector<char> live_;
  std::vector<std::uint32_t> free_;  // a heap, the smallest first
};

}  // namespace sash::slicing
