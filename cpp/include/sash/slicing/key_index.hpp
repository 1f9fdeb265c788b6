// KeyIndex: tuples of machine words to small numbers and back. Numbers of forgotten keys are used
// again. Open addressing with linear probing; a removal moves later entries of its run back.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

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
    fresh = true;
    std::uint32_t id;
    if (free_.empty()) {
      id = static_cast<std::uint32_t>(live_.size());
      words_.insert(words_.end(), key, key + width_);
      live_.push_back(true);
    } else {
      id = free_.back();
      free_.pop_back();
      std::copy_n(key, width_, words_.begin() + static_cast<std::ptrdiff_t>(id * width_));
      live_[id] = true;
    }
    slots_[i] = id;
    if (2 * ++used_ > slots_.size()) rehash(2 * slots_.size());
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
    free_.push_back(id);
    --used_;
  }

 private:
  static constexpr std::uint32_t kFree = ~std::uint32_t{0};
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
  std::vector<std::uint32_t> free_;
};

}  // namespace sash::slicing
