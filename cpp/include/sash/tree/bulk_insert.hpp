// FingerTree: inserting a sorted batch in one shared pass.
//
// The lowest spine node that covers the batch hands each child its part of it. A leaf merges its
// part in; what does not fit becomes new leaves, which the level above adopts, each level once
// (bulk FiBA, section 5). Aggregates are computed afterwards, once for each node touched.
#pragma once

#include "sash/finger_tree.hpp"
#include "sash/tree/plan.hpp"

namespace sash {

template <Monoid M, bool Fingers>
template <class At>
void Tree<M, Fingers>::bulk_insert(const Time* times, std::size_t n, At&& lift_into) {
  if (n == 0) return;
  if (n == 1) return add(times[0], [&](Cell* e) { lift_into(std::size_t{0}, e); });
  if (bulk_append(times, n, lift_into)) return;

  const std::size_t cells = at_.entry_cells();
  const bool twice = std::adjacent_find(times, times + n) != times + n;
  auto entries = std::make_unique_for_overwrite<Cell[]>(n * cells);
  auto once = std::make_unique_for_overwrite<Time[]>(twice ? n : 0);
  std::size_t lifted = 0;  // entries of different times
  const auto lift_all = [&] {
    for (std::size_t i = 0; i < n; ++i) {
      Cell* e = entries.get() + lifted * cells;
      m_.start(e, cells);
      lift_into(i, e);
      if (twice) once[lifted] = times[i];
      if (i == 0 || times[i] != times[i - 1]) {
        ++lifted;
      } else if constexpr (M::trivial) {
        m_.merge_entry(e - cells, e);
      } else {
        try {
          m_.merge_entry(e - cells, e);
        } catch (...) {
          m_.drop_entry(e);
          throw;
        }
        m_.drop_entry(e);
      }
    }
    bulk_add({twice ? once.get() : times, entries.get()}, lifted);
  };
  if constexpr (M::trivial) {
    lift_all();
  } else {
    try {
      lift_all();
    } catch (...) {
      for (std::size_t i = 0; i < lifted; ++i) m_.drop_entry(entries.get() + i * cells);
      throw;
    }
  }
}

// A batch that goes to the end of the back leaf, and fits. False if it does not.
template <Monoid M, bool Fingers>
template <class At>
bool Tree<M, Fingers>::bulk_append(const Time* times, std::size_t n, At& lift_into) {
  Leaf* b = v_.back;
  if (!Fingers || b == nullptr || (v_.size != 0 && times[0] <= youngest())) return false;
  if (b->count + n > at_.fill || b->first + b->count + n > at_.shape.leaf) return false;
  if (std::adjacent_find(times, times + n) != times + n) return false;
  const std::size_t cells = at_.entry_cells();
  Cell* e = at_.entry(b, b->count);
  if constexpr (M::nothrow && M::trivial) {
    for (std::size_t i = 0; i < n; ++i) {
      m_.start(e + i * cells, cells);
      lift_into(i, e + i * cells);
    }
    for (std::size_t i = 0; i < n; ++i) m_.append(back_state(), e + i * cells);
  } else {
    Cell* sum = merged();
    std::size_t lifted = 0;
    m_.start(sum, at_.state_cells());
    try {
      m_.copy_state(sum, back_state());
      for (; lifted < n; ++lifted) {
        m_.start(e + lifted * cells, cells);
        lift_into(lifted, e + lifted * cells);
      }
      for (std::size_t i = 0; i < n; ++i) m_.append(sum, e + i * cells);
    } catch (...) {
      for (std::size_t i = 0; i < lifted; ++i) m_.drop_entry(e + i * cells);
      m_.drop_state(sum);
      throw;
    }
    std::swap_ranges(sum, sum + at_.state_cells(), back_state());
    m_.drop_state(sum);
  }
  std::copy_n(times, n, at_.times(b) + b->count);
  b->count += static_cast<std::uint16_t>(n);
  v_.size += n;
  return true;
}

template <Monoid M, bool Fingers>
void Tree<M, Fingers>::bulk_add(const Batch& b, std::size_t n) {
  if (v_.root == nullptr) add_first();
  unsigned k = Fingers ? 0 : v_.height;
  while (b.times[0] < levels_[k].right_begin && b.times[n - 1] >= levels_[k].left_end) ++k;
  const bool right = b.times[0] >= levels_[k].right_begin;
  Path p;
  p.joint = k;
  p.right = right;
  complete(p);
  Head* top = right ? levels_[k].right : levels_[k].left;
  plan(p, top, b, n);
  atomically([&] {
    Scope s;
    s.top = k;
    sprouts_.clear();
    grow(top, b, 0, n, s);
    grow_up(p, k, s);
    repair(s);
    return true;
  });
  leaves_.reserve(0);
  inners_.reserve(0);
  if (sprouts_.capacity() > kNear) std::vector<Sprout>().swap(sprouts_);
}

// Puts entries i..j of the batch below x; new right siblings of x are added to sprouts_.
template <Monoid M, bool Fingers>
void Tree<M, Fingers>::grow(Head* node, const Batch& b, std::size_t i, std::size_t j, Scope& s) {
  const unsigned level = node->level;
  if (level == 0) {
    s.front = s.front || node == v_.front;
    s.back = s.back || node == v_.back;
    return grow_leaf(leaf(node), b, i, j);
  }
  if (level < v_.height) {
    s.left = s.left || node == levels_[level].left;
    s.right = s.right || node == levels_[level].right;
  }
  Inner* x = inner(node);
  touch(x);
  const std::size_t from = sprouts_.size();
  while (i < j) {
    const Time* separators = at_.separators(x);
    const unsigned c = tree::count_below<true>(separators + 1, x->count - 1u, b.times[i]);
    const std::size_t end = c + 1u < x->count ? tree::gallop(b.times, i, j, separators[c + 1]) : j;
    const std::size_t before = sprouts_.size();
    at_.links(x)[c].count = kUnknown;
    grow(at_.child(x, c), b, i, end, s);
    for (std::size_t k = before; k < sprouts_.size(); ++k) sprouts_[k].after = c;
    i = end;
  }
  if (sprouts_.size() > from) adopt(x, from);
}

// later := old (x) later, where old is in a leaf and later in the batch, which takes old's place.
template <Monoid M, bool Fingers>
void Tree<M, Fingers>::merge_batch(Cell* old, Cell* later) {
  const std::size_t cells = at_.entry_cells();
  if constexpr (requires { m_.prepare_merge(old, later); }) {
    m_.merge_prepared(old, later);
  } else if constexpr (M::nothrow) {
    m_.merge_entry(old, later);
    m_.drop_entry(later);
    std::copy_n(old, cells, later);
  } else {
    Cell* both = merged();
    m_.start(both, cells);
    try {
      m_.copy_entry(both, old);
      m_.merge_entry(both, later);
      undo_.retire(m_, old);
    } catch (...) {
      m_.drop_entry(both);
      throw;
    }
    std::swap_ranges(both, both + cells, later);
    m_.drop_entry(both);
  }
}

template <Monoid M, bool Fingers>
void Tree<M, Fingers>::grow_leaf(Leaf* x, const Batch& b, std::size_t i, std::size_t j) {
  touch(x);
  const std::size_t cells = at_.entry_cells();
  const unsigned count = x->count;
  const unsigned at = tree::count_below<false>(at_.times(x), count, b.times[i]);
  std::size_t equal = 0;
  for (std::size_t n = i, o = at; n < j && o < count;) {
    const Time old = at_.times(x)[o], late = b.times[n];
    equal += old == late;
    o += old <= late;
    n += late <= old;
  }
  const std::size_t total = count + (j - i) - equal;
  v_.size += total - count;

  // Batches in order fill leaves as single entries do; elsewhere all leaves get equal shares.
  const bool packed = x == v_.back && at == count;
  const std::size_t most = at_.fill;
  const std::size_t first = packed ? std::max<std::size_t>(count, most) : at_.shape.leaf;
  const bool fits = total <= first;
  const std::size_t leaves = fits     ? 1
                             : packed ? 1 + (total - first + most - 1) / most
                                      : (total + most - 1) / most;
  const auto share = [&](std::size_t n) {
    if (fits) return total;
    if (!packed) return total / leaves + (n < total % leaves);
    return n == 0 ? first : std::min(most, total - first - most * (n - 1));
  };
  const unsigned stay = fits || at <= share(0) ? at : 0;
  Leaf* old = nullptr;
  const unsigned moved = count - stay;
  if (moved > 0) {
    old = new_leaf();
    old->first = 0;
    at_.move_to_back(old, x, stay, moved);
    x->count = static_cast<std::uint16_t>(stay);
  }
  Leaf* to = x;
  std::size_t filled = 0, room = share(0) - stay;
  for (unsigned o = 0; o < moved || i < j;) {
    const Time* times = old != nullptr ? at_.times(old) : nullptr;
    const bool from_batch = o == moved || (i < j && b.times[i] <= times[o]);
    if (room == 0) {
      to = new_leaf();
      room = share(++filled);
      sprouts_.push_back({from_batch ? b.times[i] : times[o], to, 0});
    }
    unsigned run = 1;
    if (from_batch) {
      if (o < moved && times[o] == b.times[i]) {
        merge_batch(at_.entry(old, o), b.entries + i * cells);
        ++o;
      } else {
        while (run < room && i + run < j && (o == moved || b.times[i + run] < times[o])) ++run;
      }
      at_.copy_to_back(to, b.times + i, b.entries + i * cells, run);
      i += run;
    } else {
      while (run < room && o + run < moved && (i == j || times[o + run] < b.times[i])) ++run;
      at_.move_to_back(to, old, o, run);
      o += run;
    }
    room -= run;
  }
  if (old != nullptr) {
    old->count = 0;
    give(old);
  }
}

}  // namespace sash
