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

#include <algorithm>
#include <bit>
#include <stdexcept>
#include <vector>

#include "sash/fifo.hpp"
#include "sash/state_array.hpp"

namespace sash {

// Places that were written. Neighbours written one after the other take one run together, also
// where two such runs grow in turns, as those of a window's two ends do.
class Places {
 public:
  struct Run {
    std::size_t first, last;  // both included
  };

  bool empty() const { return runs_.empty(); }
  void clear() { runs_.clear(); }
  void reserve_one() {  // so that the next add cannot fail
    if (runs_.size() == runs_.capacity()) runs_.reserve(2 * runs_.size() + 8);
  }
  void add(std::size_t place) { add(place, place); }
  void add(std::size_t first, std::size_t last) {
    const std::size_t n = runs_.size();
    for (std::size_t i = n; i-- != 0 && i + 2 >= n;) {
      Run& run = runs_[i];
      if (first < run.first || first > run.last + 1) continue;
      run.last = std::max(run.last, last);
      return;
    }
    runs_.push_back({first, last});
  }

  // Sorts the runs and makes one of those that touch.
  const std::vector<Run>& tidied() {
    const auto before = [](const Run& a, const Run& b) { return a.first < b.first; };
    if (!std::is_sorted(runs_.begin(), runs_.end(), before))
      std::sort(runs_.begin(), runs_.end(), before);
    merge(runs_);
    return runs_;
  }
  std::size_t runs() const { return runs_.size(); }
  std::size_t bytes() const { return runs_.capacity() * sizeof(Run); }

  // Calls f on each inner node above the places of a tree of n of them, once, a level at a time
  // from below. Forgets the places.
  template <class F>
  void climb(std::size_t n, F&& f) {
    tidied();
    if (runs_.empty()) return;
    for (Run& run : runs_) run.first += n, run.last += n;
    while (runs_.size() > 2) {
      for (Run& run : runs_) run = {run.first / 2, run.last / 2};
      merge(runs_);
      for (const Run& run : runs_)
        for (std::size_t v = run.first; v <= run.last; ++v) f(v);
    }
    climb_two(runs_.front(), runs_.back(), f);
    runs_.clear();
  }

 private:
  // From the nodes of two runs, or twice the same, to the root.
  template <class F>
  static void climb_two(Run a, Run b, F&& f) {
    const auto up = [](Run& run) { run = {run.first / 2, run.last / 2}; };
    const auto each = [&f](const Run& run) {
      for (std::size_t v = run.first; v <= run.last; ++v) f(v);
    };
    bool two = a.last + 1 < b.first;
    while (a.first > 1) {
      up(a);
      if (two) {
        up(b);
        two = a.last + 1 < b.first;
        if (two) each(b);
        else a.last = b.last;
      }
      each(a);
    }
  }

  static void merge(std::vector<Run>& runs) {
    if (runs.size() < 2) return;
    std::size_t kept = 0;
    for (std::size_t i = 1; i < runs.size(); ++i) {
      if (runs[i].first <= runs[kept].last + 1)
        runs[kept].last = std::max(runs[kept].last, runs[i].last);
      else runs[++kept] = runs[i];
    }
    runs.resize(kept + 1);
  }

  std::vector<Run> runs_;
};

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

  // Computes the inner nodes above the given places, level by level so that each is computed once,
  // and forgets the places. When a combine throws, every node is as it was, and so are the places.
  void refresh(Places& places) {
    if constexpr (M::nothrow) {
      places.climb(n_, [&](std::size_t v) { compute(tree_[v], v); });
    } else {
      Places climbing(places);
      refresh_aside(climbing);
      places.clear();
    }
  }

  void aggregate(Cell* out) const { m_->copy_state(out, tree_[1]); }

  // Places [0, place], and [place, n): the nodes hanging off the path to the root. Steps without
  // one are skipped together, as nothing can predict them.
  void prefix(std::size_t place, Cell* out) const {
    std::size_t v = n_ + place;
    m_->copy_state(out, tree_[v]);
    for (v >>= std::countr_zero(v); v != 1; v /= 2, v >>= std::countr_zero(v))
      m_->combine(out, tree_[v - 1], out);
  }
  void suffix(std::size_t place, Cell* out) const {
    std::size_t v = n_ + place;
    m_->copy_state(out, tree_[v]);
    for (v >>= std::countr_one(v); v != 0; v /= 2, v >>= std::countr_one(v))
      m_->combine(out, out, tree_[v + 1]);
  }

  void check_invariants() const {
    Held<M> both(*m_);
    for (std::size_t v = n_; --v != 0;) {
      compute(both.get(), v);
      if (!m_->same_state(both.get(), tree_[v])) throw std::logic_error("FlatFat: a stale node");
    }
  }

 private:
  void compute(Cell* out, std::size_t v) const { m_->combine(out, tree_[2 * v], tree_[2 * v + 1]); }

  void refresh_aside(Places& places) {
    States<M> old(*m_);
    std::vector<std::size_t> changed;
    const auto swap_cells = [&](Cell* a, Cell* b) {
      for (std::size_t i = 0; i < m_->state_cells(); ++i) std::swap(a[i], b[i]);
    };
    try {
      places.climb(n_, [&](std::size_t v) {
        Cell* fresh = old.add();
        compute(fresh, v);
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
