// Amta
//   order    first in, first out
//   laws     associative
//   time     query 1, insert amortised 2, evict amortised 1 + (log n) / n combines (worst log n);
//            evict_many(k) O(log n) combines
//   space    2n partial aggregates
//   paper    AMTA (Villalba et al. 2019), as compared in the DABA article, section 8.1
//   use      a comparator; in-order windows with bulk evictions
//
// Level k holds the aggregates of aligned blocks of 2^k entries. The window is the blocks on the
// left stack followed by those on the right stack, each with a running aggregate: from the block to
// the boundary on the left, from the boundary to the block on the right.
//
// Invariants
//   1. the stacks' blocks, left from top to bottom, then right from bottom to top, cover
//      [head, tail) without a gap;
//   2. a left block's sum covers from its start to the boundary, a right block's from the boundary
//      to its end;
//   3. a block's own aggregate, and those of its halves, are in their levels.
#pragma once

#include <deque>
#include <stdexcept>
#include <vector>

#include "sash/fifo.hpp"
#include "sash/poll.hpp"
#include "sash/state_array.hpp"

namespace sash {

template <Monoid M>
class Amta {
 public:
  using Cell = typename M::Cell;
  static constexpr bool keeps_values = true;
  static constexpr Holds kept = Holds::state;

  explicit Amta(M m) : m_(std::move(m)), left_(m_), right_(m_), spare_(m_) {
    levels_.emplace_back(m_);
  }
  Amta(const Amta&) = delete;
  Amta& operator=(const Amta&) = delete;
  ~Amta() { clear(); }

  const M& monoid() const { return m_; }
  std::size_t size() const { return tail() - head_; }
  std::size_t partials() const { return 2 * size(); }
  std::size_t bytes() const {
    std::size_t total = 0;
    for (const auto& level : levels_) total += level.bytes();
    return total;
  }

  void insert(const typename M::In& in) {
    carry();
    Cell* leaf = levels_[0].next();
    m_.lift(leaf, in);
    m_.to_state(leaf, leaf);
    try {
      Cell* sum = right_.push(0, tail());
      if (right_.size() == 1) m_.copy_state(sum, leaf);
      else m_.combine(sum, right_.sum(right_.size() - 2), leaf);
    } catch (...) {
      if (right_.size() != 0 && right_.top().index == tail()) right_.pop();
      m_.drop_state(leaf);
      throw;
    }
    levels_[0].push_back();
  }

  void evict() { evict_many(1); }

  // Gives up the k oldest entries; blocks that leave whole cost nothing. All memory is taken before
  // the first of them leaves.
  void evict_many(std::size_t k) {
    const std::uint64_t head = head_ + k;
    if (k == 0) return;
    if (left_.size() == 0 || end_of(left_[0]) < head) flip();
    left_.reserve(levels_.size());
    while (head_ != head) {
      const std::uint64_t end = end_of(left_.top());
      if (end <= head) {
        left_.pop();
        head_ = end;
      } else {
        split_top();
      }
    }
    forget();
  }

  void query(Cell* out) const {
    if (left_.size() == 0 && right_.size() == 0) return m_.set_identity(out);
    if (right_.size() == 0) return m_.copy_state(out, left_.top_sum());
    if (left_.size() == 0) return m_.copy_state(out, right_.top_sum());
    m_.combine(out, left_.top_sum(), right_.top_sum());
  }

  void clear() {
    left_.clear();
    right_.clear();
    for (auto& level : levels_) level.pop_until(level.last());
    head_ = tail();
  }

  template <class F>
  void for_each(F&& f) const {
    for (std::uint64_t i = head_; i != tail(); ++i) f(levels_[0].at(i));
  }

  void check_invariants() const {
    std::uint64_t at = head_;
    const auto covers = [&](Block b) {
      require(b.index << b.level == at, "Amta invariant 1: a gap between blocks");
      at = (b.index + 1) << b.level;
    };
    for (std::size_t i = left_.size(); i-- != 0;) covers(left_[i]);
    const std::uint64_t boundary = at;
    for (std::size_t i = 0; i < right_.size(); ++i) covers(right_[i]);
    require(at == tail(), "Amta invariant 1: blocks do not end at the tail");
    if (!m_.exact()) return;
    for (std::size_t i = 0; i < left_.size(); ++i)
      check_sum(left_[i].index << left_[i].level, boundary, left_.sum(i));
    for (std::size_t i = 0; i < right_.size(); ++i)
      check_sum(boundary, (right_[i].index + 1) << right_[i].level, right_.sum(i));
  }

  // The same window in an empty one, without a combine. Polls: `to` may be left incomplete.
  void copy_to(Amta& to) const {
    Poll poll;
    for (std::size_t k = 0; k < levels_.size(); ++k) {
      if (to.levels_.size() <= k) to.levels_.emplace_back(to.m_);
      to.levels_[k].restart_at(levels_[k].first());
      for (std::uint64_t i = levels_[k].first(); i != levels_[k].last(); ++i) {
        m_.copy_state(to.levels_[k].next(), levels_[k].at(i));
        to.levels_[k].push_back();
        poll();
      }
    }
    for (std::size_t i = 0; i < left_.size(); ++i)
      m_.copy_state(to.left_.push(left_[i].level, left_[i].index), left_.sum(i));
    for (std::size_t i = 0; i < right_.size(); ++i)
      m_.copy_state(to.right_.push(right_[i].level, right_[i].index), right_.sum(i));
    to.head_ = head_;
  }

  // Only the leaves are kept: the blocks above them are made again.
  template <class Archive>
  void archive(Archive& a) {
    std::size_t n = size();
    a.count(n, m_);
    for (std::size_t i = 0; i < n; ++i) {
      if constexpr (Archive::loading) {
        carry();
        a.state(m_, levels_[0].next());
        Cell* sum = right_.push(0, tail());
        if (right_.size() == 1) m_.copy_state(sum, levels_[0].at(tail()));
        else m_.combine(sum, right_.sum(right_.size() - 2), levels_[0].at(tail()));
        levels_[0].push_back();
      } else {
        a.state(m_, levels_[0].at(head_ + i));
      }
    }
  }

 private:
  struct Block {
    std::size_t level;
    std::uint64_t index;
  };
  class Stack {
   public:
    explicit Stack(const M& m) : m_(&m), sums_(m) {}
    std::size_t size() const { return blocks_.size(); }
    Block top() const { return blocks_.back(); }
    Block operator[](std::size_t i) const { return blocks_[i]; }
    Cell* sum(std::size_t i) const { return sums_.at(i); }
    Cell* top_sum() const { return sums_.at(size() - 1); }
    Cell* push(std::size_t level, std::uint64_t index) {
      Cell* sum = sums_.at_or_new(size());
      blocks_.push_back({level, index});
      return sum;
    }
    void pop() {
      m_->drop_state(top_sum());
      blocks_.pop_back();
    }
    void reserve(std::size_t more) {  // so that as many pushes cannot fail
      if (blocks_.capacity() < size() + more) blocks_.reserve(2 * (size() + more));
      sums_.reserve(size() + more);
    }
    void rename(std::size_t i, Block b) { blocks_[i] = b; }
    void clear() {
      while (size() != 0) pop();
    }
    void swap(Stack& o) {
      std::swap(blocks_, o.blocks_);
      sums_.swap(o.sums_);
    }

   private:
    struct Sums {
      explicit Sums(const M& m) : states(std::make_unique<States<M>>(m)) {}
      Cell* at(std::size_t i) const { return (*states)[i]; }
      Cell* at_or_new(std::size_t i) { return i < states->size() ? at(i) : states->add(); }
      void reserve(std::size_t n) {
        while (states->size() < n) states->add();
      }
      void swap(Sums& o) { std::swap(states, o.states); }
      std::unique_ptr<States<M>> states;
    };
    const M* m_;
    std::vector<Block> blocks_;
    Sums sums_;
  };

  static void require(bool holds, const char* what) {
    if (!holds) throw std::logic_error(what);
  }
  std::uint64_t tail() const { return levels_[0].last(); }
  static std::uint64_t end_of(Block b) { return (b.index + 1) << b.level; }

  // Merges equal neighbours at the top of the right stack. Each merge leaves the window the same,
  // so one that throws undoes nothing; put off until the next insert, it need not be undone there.
  void carry() {
    while (right_.size() >= 2) {
      const Block b = right_.top(), a = right_[right_.size() - 2];
      if (a.level != b.level || a.index % 2 != 0) return;
      const Block parent{a.level + 1, a.index / 2};
      if (levels_.size() <= parent.level) levels_.emplace_back(m_);
      auto& above = levels_[parent.level];
      if (above.empty()) above.restart_at(parent.index);
      for (; above.last() < parent.index; above.push_back()) m_.set_identity(above.next());
      m_.combine(above.next(), levels_[a.level].at(a.index), levels_[a.level].at(b.index));
      above.push_back();
      m_.copy_state(right_.sum(right_.size() - 2), right_.top_sum());
      right_.pop();
      right_.rename(right_.size() - 1, parent);
    }
  }

  // All blocks of the right stack become the left stack, whose blocks leave: log n combines.
  void flip() {
    Stack fresh(m_);
    for (std::size_t i = right_.size(); i-- != 0;) {
      const Block b = right_[i];
      Cell* sum = fresh.push(b.level, b.index);
      const Cell* node = levels_[b.level].at(b.index);
      if (fresh.size() == 1) m_.copy_state(sum, node);
      else m_.combine(sum, node, fresh.sum(fresh.size() - 2));
    }
    fresh.reserve(levels_.size());
    if (left_.size() != 0) head_ = end_of(left_[0]);
    left_.clear();
    left_.swap(fresh);
    right_.clear();
  }

  // The top block of the left stack gives way to its halves: one combine.
  void split_top() {
    const Block top = left_.top();
    const Block late{top.level - 1, top.index * 2 + 1}, early{top.level - 1, top.index * 2};
    const Cell* node = levels_[late.level].at(late.index);
    if (left_.size() == 1) m_.copy_state(spare_.get(), node);
    else m_.combine(spare_.get(), node, left_.sum(left_.size() - 2));
    Cell* top_sum = left_.push(early.level, early.index);
    m_.copy_state(top_sum, left_.sum(left_.size() - 2));
    m_.copy_state(left_.sum(left_.size() - 2), spare_.get());
    left_.rename(left_.size() - 2, late);
    if constexpr (!M::trivial) m_.set_identity(spare_.get());
  }

  void forget() {
    for (std::size_t k = 0; k < levels_.size(); ++k) levels_[k].pop_until(head_ >> k);
  }

  void check_sum(std::uint64_t from, std::uint64_t to, const Cell* sum) const {
    Held<M> fold(m_);
    for (std::uint64_t i = from; i != to; ++i) m_.combine(fold.get(), fold.get(), levels_[0].at(i));
    require(m_.same_state(fold.get(), sum), "Amta invariant 2: a stale sum");
  }

  M m_;
  std::deque<StateRing<M>> levels_;
  Stack left_, right_;
  Held<M> spare_;
  std::uint64_t head_ = 0;
};

}  // namespace sash
