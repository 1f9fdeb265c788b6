// FlatFat
//   order    any: a fixed number of places, each overwritten at will
//   laws     associative
//   time     new n - 1, update of m of n places at most m (1 + ceil(log2(n / m))), aggregate 0,
//            prefix and suffix at most log2 n combines
//   space    2n partial aggregates (n rounded up to a power of two)
//   paper    General Incremental Sliding-Window Aggregation, section 4
//   use      a fixed set of places of which some change at a time; the base of ReactiveAggregator
//
// A complete binary tree in one array, the root at 1 and the children of v at 2v and 2v + 1.
//
// Invariant: node v = node 2v (x) node 2v + 1 for every inner node; places never written hold the
// identity.
#pragma once

#include <bit>
#include <stdexcept>
#include <vector>

#include "sash/fifo.hpp"
#include "sash/state_array.hpp"

namespace sash {

template <Monoid M>
class FlatFat {
 public:
  using Cell = typename M::Cell;

  // All places hold the identity, and so do all nodes: no combines.
  FlatFat(const M& m, std::size_t capacity)
      : m_(&m), n_(std::bit_ceil(capacity < 1 ? std::size_t{1} : capacity)), tree_(m, 2 * n_) {
    for (std::size_t v = 0; v < 2 * n_; ++v) m.set_identity(tree_[v]);
  }

  std::size_t capacity() const { return n_; }
  std::size_t bytes() const { return tree_.bytes(); }
  Cell* leaf(std::size_t place) const { return tree_[n_ + place]; }

  // Computes all inner nodes from the places: n - 1 combines.
  void rebuild() {
    for (std::size_t v = n_; --v != 0;) m_->combine(tree_[v], tree_[2 * v], tree_[2 * v + 1]);
  }

  // Computes the inner nodes above the given places (ascending), level by level so that each is
  // computed once. When a combine throws, every node is as it was.
  void refresh(const std::vector<std::size_t>& places) {
    if (places.empty()) return;
    std::vector<std::size_t> nodes;
    for (const std::size_t place : places) nodes.push_back(n_ + place);
    if constexpr (M::nothrow) {
      climb(nodes, [&](std::size_t v) { m_->combine(tree_[v], tree_[2 * v], tree_[2 * v + 1]); });
    } else {
      refresh_aside(nodes);
    }
  }

  void aggregate(Cell* out) const { m_->copy_state(out, tree_[1]); }

  // Places [0, place], and [place, n): the nodes hanging off the path to the root.
  void prefix(std::size_t place, Cell* out) const {
    std::size_t v = n_ + place;
    m_->copy_state(out, tree_[v]);
    for (; v > 1; v /= 2)
      if (v % 2 == 1) m_->combine(out, tree_[v - 1], out);
  }
  void suffix(std::size_t place, Cell* out) const {
    std::size_t v = n_ + place;
    m_->copy_state(out, tree_[v]);
    for (; v > 1; v /= 2)
      if (v % 2 == 0) m_->combine(out, out, tree_[v + 1]);
  }

  void check_invariants() const {
    Held<M> both(*m_);
    for (std::size_t v = n_; --v != 0;) {
      m_->combine(both.get(), tree_[2 * v], tree_[2 * v + 1]);
      if (!m_->same_state(both.get(), tree_[v])) throw std::logic_error("FlatFat: a stale node");
    }
  }

 private:
  // Calls f on each ancestor of the nodes, a level at a time.
  template <class F>
  static void climb(std::vector<std::size_t>& nodes, F&& f) {
    while (nodes.front() > 1) {
      std::size_t kept = 0;
      for (const std::size_t v : nodes)
        if (kept == 0 || nodes[kept - 1] != v / 2) nodes[kept++] = v / 2;
      nodes.resize(kept);
      for (const std::size_t v : nodes) f(v);
    }
  }

  void refresh_aside(std::vector<std::size_t>& nodes) {
    States<M> old(*m_);
    std::vector<std::size_t> changed;
    const auto swap_cells = [&](Cell* a, Cell* b) {
      for (std::size_t i = 0; i < m_->state_cells(); ++i) std::swap(a[i], b[i]);
    };
    try {
      climb(nodes, [&](std::size_t v) {
        Cell* fresh = old.add();
        m_->combine(fresh, tree_[2 * v], tree_[2 * v + 1]);
        changed.push_back(v);
        swap_cells(tree_[v], fresh);
      });
    } catch (...) {
      for (std::size_t i = changed.size(); i-- != 0;) swap_cells(tree_[changed[i]], old[i]);
      throw;
    }
  }

  const M* m_;
  std::size_t n_;
  StateArray<M> tree_;
};

}  // namespace sash
