// FingerTree: the memory for a batch, taken before anything is changed.
//
// The batch is followed to the leaves it will go to, without touching them, and the new nodes are
// counted, level by level as they will be made. So a batch is taken whole or not at all, at no cost
// but this second search; nothing has to be undone where no function of the monoid can throw.
#pragma once

#include "sash/finger_tree.hpp"

namespace sash {
namespace tree {

// The first of times[i..j) that is >= end, looked for from the left in growing steps.
inline std::size_t gallop(const Time* times, std::size_t i, std::size_t j, Time end) {
  std::size_t step = 1;
  while (i + step < j && times[i + step] < end) {
    i += step;
    step *= 2;
  }
  return static_cast<std::size_t>(std::lower_bound(times + i, times + std::min(j, i + step), end) -
                                  times);
}

}  // namespace tree

// Takes the memory that the batch needs, at most, before anything is changed.
template <Monoid M, bool Fingers>
void Tree<M, Fingers>::plan(const Path& p, const Head* top, const Batch& b, std::size_t n) {
  Plan all;
  std::size_t sprouts = plan_below(top, b, 0, n, all);
  unsigned height = top->level;
  for (; sprouts > 0; ++height) {
    const bool there = height < v_.height;
    sprouts = splits((there ? p.step[height + 1].node->count : 1u) + sprouts, at_.shape.fanout);
    all.inners += sprouts + (there ? 0 : 1);
  }
  reserve_levels(std::max(v_.height, height));
  reserve_nodes(all.leaves + 1, all.inners + 1);  // and the one that a node's slots wait in
}

// How many new siblings a node of this capacity leaves, given what comes to be in it.
template <Monoid M, bool Fingers>
std::size_t Tree<M, Fingers>::splits(std::size_t total, std::size_t capacity) {
  const std::size_t most = capacity - capacity / 8;
  return total <= capacity ? 0 : (total + most - 1) / most - 1;
}

// Counts the new nodes below x, and prepares entries of the batch that will merge. Returns how many
// siblings x leaves, at most: entries that merge are counted as if they did not.
template <Monoid M, bool Fingers>
std::size_t Tree<M, Fingers>::plan_below(const Head* node, const Batch& b, std::size_t i,
                                         std::size_t j, Plan& all) {
  if (node->level == 0) {
    const Leaf* x = leaf(node);
    prepare_merges(x, b, i, j);
    const std::size_t total = x->count + (j - i);
    // In order, a leaf is closed when it is full but for what is left for late entries.
    const bool closes = x == v_.back && total > at_.fill && total <= at_.shape.leaf;
    const std::size_t made = closes ? 1 : splits(total, at_.shape.leaf);
    all.leaves += made;
    return made;
  }
  const Inner* x = inner(node);
  std::size_t more = 0;
  while (i < j) {
    const Time* separators = at_.separators(x);
    const unsigned c = tree::count_below<true>(separators + 1, x->count - 1u, b.times[i]);
    const std::size_t end = c + 1u < x->count ? tree::gallop(b.times, i, j, separators[c + 1]) : j;
    more += plan_below(at_.child(x, c), b, i, end, all);
    i = end;
  }
  const std::size_t made = splits(x->count + more, at_.shape.fanout);
  all.inners += made;
  return made;
}

// Where merging two entries takes memory, it is taken here, by the entry of the batch.
template <Monoid M, bool Fingers>
void Tree<M, Fingers>::prepare_merges([[maybe_unused]] const Leaf* x,
                                      [[maybe_unused]] const Batch& b,
                                      [[maybe_unused]] std::size_t i,
                                      [[maybe_unused]] std::size_t j) {
  if constexpr (requires(Cell* c) { m_.prepare_merge(c, c); }) {
    const Time* times = at_.times(x);
    unsigned o = tree::count_below<false>(times, x->count, b.times[i]);
    while (i < j && o < x->count) {
      if (times[o] == b.times[i])
        m_.prepare_merge(at_.entry(x, o), b.entries + i * at_.entry_cells());
      const Time late = b.times[i];
      i += late <= times[o];
      o += times[o] <= late;
    }
  }
}

}  // namespace sash
