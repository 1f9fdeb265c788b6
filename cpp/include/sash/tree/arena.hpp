// Memory for the nodes of one kind: blocks of equal nodes, each with its own list of free ones.
//
// A block with no node in use goes back to the system, except one kept as a spare, so that memory
// follows the window down after a burst. Blocks grow with the window, from one node to 256 KB.
#pragma once

#include <algorithm>
#include <utility>
#include <vector>

#include "sash/tree/block.hpp"
#include "sash/tree/node.hpp"

namespace sash::tree {

class Arena {
 public:
  explicit Arena(std::size_t node_bytes) : node_bytes_(node_bytes) {}
  Arena(Arena&& o) noexcept
      : node_bytes_(o.node_bytes_),
        bytes_(std::exchange(o.bytes_, 0)),
        free_(std::exchange(o.free_, 0)),
        reserved_(std::exchange(o.reserved_, 0)),
        roomy_(std::exchange(o.roomy_, nullptr)),
        blocks_(std::exchange(o.blocks_, {})) {}
  Arena& operator=(Arena&& o) noexcept {
    std::swap(node_bytes_, o.node_bytes_);
    std::swap(bytes_, o.bytes_);
    std::swap(free_, o.free_);
    std::swap(reserved_, o.reserved_);
    std::swap(roomy_, o.roomy_);
    std::swap(blocks_, o.blocks_);
    return *this;
  }
  ~Arena() { clear(); }

  std::size_t bytes() const { return bytes_ + blocks_.capacity() * sizeof(Block*); }

  // Until the next reservation, take() will not throw while at most n more nodes are in use.
  void reserve(std::size_t n) {
    while (free_ < n) add_block();
    reserved_ = n;
  }

  void* take() {
    if (roomy_ == nullptr) add_block();
    Block* b = roomy_;
    void* node = b->free;
    if (node != nullptr) b->free = next(node);
    else node = reinterpret_cast<std::byte*>(b) + kHeader + node_bytes_ * b->fresh++;
    if (++b->used == b->nodes) unlink(b);
    --free_;
    static_cast<Head*>(node)->block = b;
    return node;
  }

  void give(Head* node) {
    auto* b = static_cast<Block*>(node->block);
    next(node) = b->free;
    b->free = node;
    ++free_;
    if (b->used-- == b->nodes) link(b);
    if (b->used == 0 && free_ - b->nodes >= std::max<std::size_t>(b->nodes, reserved_))
      remove_block(b);
  }

  void clear() {
    for (Block* b : blocks_) give_block(b, bytes_of(b->nodes));
    blocks_ = {};
    roomy_ = nullptr;
    bytes_ = free_ = reserved_ = 0;
  }

  // The word of a node out of use that lists may use as their link.
  static void*& next(void* node) {
    return *reinterpret_cast<void**>(static_cast<std::byte*>(node) + sizeof(Head));
  }

 private:
  struct Block {
    Block *before, *after;  // among the blocks with room
    void* free;
    std::size_t at;  // its place in blocks_
    std::uint32_t nodes, used, fresh;
  };
  static constexpr std::size_t kHeader = (sizeof(Block) + 15) / 16 * 16;
  static constexpr std::size_t kLargest = std::size_t{1} << 18;

  std::size_t bytes_of(std::size_t nodes) const { return kHeader + nodes * node_bytes_; }

  void add_block() {
    const std::size_t most = std::max<std::size_t>(1, kLargest / node_bytes_);
    const std::size_t wanted = bytes_ / node_bytes_ / 8 + 1;  // at most an eighth more than in use
    const auto nodes = static_cast<std::uint32_t>(std::min(most, wanted));
    if (blocks_.size() == blocks_.capacity()) blocks_.reserve(2 * blocks_.size() + 4);
    auto* b = static_cast<Block*>(take_block(bytes_of(nodes)));
    *b = {nullptr, nullptr, nullptr, blocks_.size(), nodes, 0, 0};
    blocks_.push_back(b);
    link(b);
    bytes_ += bytes_of(nodes);
    free_ += nodes;
  }
  void remove_block(Block* b) {
    unlink(b);
    bytes_ -= bytes_of(b->nodes);
    free_ -= b->nodes;
    blocks_[b->at] = blocks_.back();
    blocks_[b->at]->at = b->at;
    blocks_.pop_back();
    give_block(b, bytes_of(b->nodes));
  }
  void link(Block* b) {
    b->before = nullptr;
    b->after = roomy_;
    if (roomy_ != nullptr) roomy_->before = b;
    roomy_ = b;
  }
  void unlink(Block* b) {
    (b->before != nullptr ? b->before->after : roomy_) = b->after;
    if (b->after != nullptr) b->after->before = b->before;
  }

  std::size_t node_bytes_;
  std::size_t bytes_ = 0, free_ = 0, reserved_ = 0;
  Block* roomy_ = nullptr;
  std::vector<Block*> blocks_;
};

}  // namespace sash::tree
