// The double-ended queue under the in-order structures.
//
// Cost: push_back, pop_front and moving a position by one are worst-case O(1) (one allocation at
// most); nothing is ever moved. Space: chunks double from 8 slots up to `kChunkBytes`, so a short
// window is small and a long one has at most one partly used chunk at each end, plus one spare.
// Memory goes back to the allocator as the window shrinks. (DABA article, definition 4.)
//
// A slot is `stride` cells of raw memory; the owner starts and drops what is in it.
//
// Invariants
//   1. chunks form a doubly linked list from head to tail, never empty;
//   2. front() is in the head chunk, end() in the tail chunk with index < capacity: there is always
//      room at end(), so writing there before push_back cannot fail;
//   3. size() is the number of slots between front() and end().
#pragma once

#include <algorithm>
#include <cstdlib>
#include <new>
#include <stdexcept>
#include <utility>

#include "sash/monoid.hpp"

namespace sash {

template <class Cell, std::size_t FixedStride>  // FixedStride 0: given at run time
class ChunkedDeque {
  struct Chunk {
    Chunk *prev, *next;
    Cell* limit;  // one past its last cell
    std::uint32_t capacity;
    Cell* cells() { return reinterpret_cast<Cell*>(reinterpret_cast<char*>(this) + kHeader); }
  };
  static constexpr std::size_t kHeader = 64;
  static constexpr std::size_t kChunkBytes = std::size_t{1} << 15;
  static constexpr std::uint32_t kFirst = 8;

 public:
  // A place in the queue. Stays good until the slot it names is popped.
  struct Position {
    Cell* cell;
    Chunk* chunk;
    bool operator==(const Position& o) const { return cell == o.cell; }
  };

  explicit ChunkedDeque(std::size_t stride) : stride_(stride) {
    front_ = end_ = first_of(allocate(kFirst));
  }
  ChunkedDeque(const ChunkedDeque&) = delete;
  ChunkedDeque& operator=(const ChunkedDeque&) = delete;
  ~ChunkedDeque() {
    release_all(front_.chunk);
    if (spare_ != nullptr) release(spare_);
  }

  // Gives up all slots; their owner has dropped what they held. Keeps the head chunk only.
  void clear() {
    release_all(std::exchange(front_.chunk->next, nullptr));
    if (spare_ != nullptr) release(std::exchange(spare_, nullptr));
    front_ = end_ = first_of(front_.chunk);
    size_ = 0;
  }

  std::size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  Position front() const { return front_; }
  Position end() const { return end_; }
  Cell* at(Position p) const { return p.cell; }

  void step(Position& p) const {
    p.cell += stride();
    if (p.cell == p.chunk->limit) [[unlikely]]
      p = first_of(p.chunk->next);
  }
  void step_back(Position& p) const {
    if (p.cell == p.chunk->cells()) [[unlikely]] {
      p.chunk = p.chunk->prev;
      p.cell = p.chunk->limit;
    }
    p.cell -= stride();
  }
  Position after(Position p) const { return step(p), p; }
  Position before(Position p) const { return step_back(p), p; }

  // Makes room so that the next `push_back()` cannot fail: the successor chunk must be there before
  // the last slot of the tail is taken (invariant 2).
  void reserve_one() {
    if (end_.cell + stride() == end_.chunk->limit && end_.chunk->next == nullptr) [[unlikely]]
      link_chunk();
  }
  // The slot at end() becomes the youngest. Call reserve_one() first.
  void push_back() {
    ++size_;
    step(end_);
  }
  // Takes the last push_back() back; what the slot holds is its owner's again.
  void unpush_back() {
    --size_;
    step_back(end_);
  }
  // The front slot is given up; its owner has dropped what it held.
  void pop_front() {
    --size_;
    front_.cell += stride();
    if (front_.cell == front_.chunk->limit) [[unlikely]]
      retire_head();
  }

  std::size_t bytes() const {
    std::size_t total = spare_ != nullptr ? chunk_bytes(spare_->capacity) : 0;
    for (Chunk* c = front_.chunk; c != nullptr; c = c->next) total += chunk_bytes(c->capacity);
    return total;
  }

  void check_invariants() const {
    std::size_t slots = 0;
    Position p = front();
    for (; !(p == end()); step(p), ++slots)
      if (p.chunk->next != nullptr && p.chunk->next->prev != p.chunk)
        throw std::logic_error("ChunkedDeque invariant 1: a chunk's neighbour does not link back");
    if (slots != size_) throw std::logic_error("ChunkedDeque invariant 3: size differs from slots");
    if (end_.cell >= end_.chunk->limit)
      throw std::logic_error("ChunkedDeque invariant 2: no room at end");
  }

 private:
  std::size_t stride() const {
    if constexpr (FixedStride != 0) return FixedStride;
    else return stride_;
  }
  std::size_t chunk_bytes(std::uint32_t capacity) const {
    return kHeader + capacity * stride() * sizeof(Cell);
  }
  Chunk* allocate(std::uint32_t capacity) {
    auto* chunk = static_cast<Chunk*>(::operator new(chunk_bytes(capacity), std::align_val_t{64}));
    *chunk = Chunk{nullptr, nullptr, nullptr, capacity};
    chunk->limit = chunk->cells() + capacity * stride();
    return chunk;
  }
  static void release_all(Chunk* chunk) {
    while (chunk != nullptr) release(std::exchange(chunk, chunk->next));
  }
  static void release(Chunk* chunk) { ::operator delete(chunk, std::align_val_t{64}); }

  void link_chunk() {
    const auto most = static_cast<std::uint32_t>(
        std::max<std::size_t>(kFirst, kChunkBytes / (stride() * sizeof(Cell))));
    Chunk* tail = end_.chunk;
    const std::uint32_t wanted = std::min(tail->capacity * 2, most);
    Chunk* next = std::exchange(spare_, nullptr);
    if (next != nullptr && next->capacity < wanted) release(std::exchange(next, nullptr));
    if (next == nullptr) next = allocate(wanted);
    next->prev = tail;
    next->next = nullptr;
    tail->next = next;
  }
  // One retired chunk is kept, so that a window that slides over a chunk's edge allocates nothing.
  void retire_head() {
    Chunk* old = front_.chunk;
    front_ = first_of(old->next);
    front_.chunk->prev = nullptr;
    if (spare_ != nullptr) release(spare_);
    spare_ = old;
  }
  static Position first_of(Chunk* chunk) { return {chunk->cells(), chunk}; }

  Position front_, end_;
  Chunk* spare_ = nullptr;
  std::size_t size_ = 0;
  std::size_t stride_;
};

template <Monoid M>
using SlotDeque = ChunkedDeque<typename M::Cell, M::fixed_cells>;

}  // namespace sash
