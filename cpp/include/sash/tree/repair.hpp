// FingerTree's aggregates, brought up to date after a change.
//
// settle() serves changes within one leaf: a commutative monoid folds the new entry into each
// aggregate above it, others compute the nodes of the path again. repair() serves changes of
// structure: these leave links with unknown counts, which are computed bottom-up, each once.
#pragma once

#include "sash/finger_tree.hpp"

namespace sash {
namespace tree {

// out := a[0] (x) ... (x) a[n-1] for one-cell monoids, in four chains to hide latency.
template <bool Entries, class M>
inline void fold_cells(const M& m, typename M::Cell* out, const typename M::Cell* a, unsigned n) {
  using Cell = typename M::Cell;
  const auto begin = [&](Cell* s, const Cell* x) {
    if constexpr (Entries) m.to_state(s, x);
    else m.copy_state(s, x);
  };
  const auto add = [&](Cell* s, const Cell* x) {
    if constexpr (Entries) m.append(s, x);
    else m.combine(s, s, x);
  };
  const unsigned q = n / 4;
  Cell s0, s1, s2, s3;
  begin(&s0, a);
  unsigned i = 1;
  if (q > 1) {
    begin(&s1, a + q);
    begin(&s2, a + 2 * q);
    begin(&s3, a + 3 * q);
    for (; i < q; ++i) {
      add(&s0, a + i);
      add(&s1, a + q + i);
      add(&s2, a + 2 * q + i);
      add(&s3, a + 3 * q + i);
    }
    m.combine(&s0, &s0, &s1);
    m.combine(&s2, &s2, &s3);
    m.combine(&s0, &s0, &s2);
    i = 4 * q;
  }
  for (; i < n; ++i) add(&s0, a + i);
  *out = s0;
}

}  // namespace tree

// out := the entries [i, j) of a leaf.
template <Monoid M, bool Fingers>
void Tree<M, Fingers>::fold_entries(Cell* out, const Leaf* x, unsigned i, unsigned j) const {
  if (i == j) return m_.set_identity(out);
  if constexpr (M::fixed_cells == 1 && M::nothrow && M::trivial) {
    tree::fold_cells<true>(m_, out, at_.entry(x, i), j - i);
  } else {
    m_.to_state(out, at_.entry(x, i));
    for (++i; i < j; ++i) m_.append(out, at_.entry(x, i));
  }
}

// out := the children [i, j) of an inner node.
template <Monoid M, bool Fingers>
void Tree<M, Fingers>::fold_children(Cell* out, const Inner* x, unsigned i, unsigned j) const {
  if (i >= j) return m_.set_identity(out);
  if constexpr (M::fixed_cells == 1 && M::nothrow && M::trivial) {
    tree::fold_cells<false>(m_, out, at_.state(x, i), j - i);
  } else {
    m_.copy_state(out, at_.state(x, i));
    for (++i; i < j; ++i) m_.combine(out, out, at_.state(x, i));
  }
}

// Computes what is unknown about the children [i, j) of x.
template <Monoid M, bool Fingers>
void Tree<M, Fingers>::refresh(Inner* x, unsigned i, unsigned j) {
  for (; i < j; ++i) {
    Link& link = at_.links(x)[i];
    if (link.count != kUnknown) continue;
    Cell* s = at_.state(x, i);
    if (x->level == 1) {
      const Leaf* c = leaf(link.child);
      fresh(s);
      fold_entries(s, c, 0, c->count);
      link.count = c->count;
    } else {
      Inner* c = inner(link.child);
      refresh(c, 0, c->count);
      fresh(s);
      fold_children(s, c, 0, c->count);
      std::uint64_t sum = 0;
      for (unsigned n = 0; n < c->count; ++n) sum += at_.links(c)[n].count;
      link.count = sum;
    }
  }
}

// The leaf at the end of p has changed at `position`: `entry` came in (more = 1), was merged with
// what stood there (0), or, null, something went away (-1).
template <Monoid M, bool Fingers>
void Tree<M, Fingers>::settle(const Path& p, unsigned position, const Cell* entry, int more) {
  const bool fold = entry != nullptr && m_.commutative();
  const unsigned joint = p.joint, height = v_.height;
  const auto update = [&](Cell* s, auto&& compute) {
    if (fold) {
      keep(s);
      m_.append(s, entry);
    } else {
      fresh(s);
      compute(s);
    }
  };
  for (unsigned k = 1; k <= joint; ++k) {
    const Step& at = p.step[k];
    touch(at.node);
    at_.links(at.node)[at.index].count += static_cast<std::uint64_t>(more);
    update(at_.state(at.node, at.index), [&](Cell* s) {
      if (k == 1) fold_entries(s, p.leaf, 0, p.leaf->count);
      else fold_children(s, p.step[k - 1].node, 0, p.step[k - 1].node->count);
    });
  }
  if constexpr (Fingers) {
    if (joint == 0) return settle_end(p, position, entry, more);
    const Inner* x = p.step[joint].node;
    if (joint == height) {
      update(left_sum(joint), [&](Cell* s) { fold_children(s, x, 1, x->count - 1u); });
    } else if (p.right) {
      update(right_local(joint), [&](Cell* s) { fold_children(s, x, 0, x->count - 1u); });
    } else {
      update(left_local(joint), [&](Cell* s) { fold_children(s, x, 1, x->count); });
    }
    if (!fold) return lower_sums(joint, joint == height || !p.right, joint != height && p.right);
    const bool right = joint != height && p.right;
    for (unsigned k = joint == height ? joint - 1 : joint; k > 0; --k)
      update(right ? right_sum(k) : left_sum(k), [](Cell*) {});
    update(middle(), [](Cell*) {});
  }
}

// The same when the leaf is the front leaf, the back leaf, or both.
template <Monoid M, bool Fingers>
[[gnu::noinline]] void Tree<M, Fingers>::settle_end(const Path& p, unsigned position,
                                                    const Cell* entry, int more) {
  const Leaf* x = p.leaf;
  if (x == v_.front && position < v_.suffixes) {
    suffixes(v_.suffixes + static_cast<unsigned>(more));
  } else if (x == v_.front && x != v_.back) {
    suffixes(x->count);
  } else if (entry != nullptr && m_.commutative()) {
    keep(back_state());
    m_.append(back_state(), entry);
  } else {
    fresh(back_state());
    fold_entries(back_state(), x, x == v_.front ? v_.suffixes : 0, x->count);
  }
}

// Computes the suffix aggregates of the front leaf's first n entries.
template <Monoid M, bool Fingers>
void Tree<M, Fingers>::suffixes(unsigned n) {
  const std::size_t cells = at_.state_cells();
  reserve_suffixes();
  if constexpr (!M::nothrow)
    undo_.image(suffix_cells_.get(), at_.shape.leaf * cells * sizeof(Cell));
  if constexpr (!M::trivial)
    for (unsigned i = 0; i < v_.suffixes; ++i) retire_state(suffix(i));
  v_.suffix_at = 0;
  v_.suffixes = n;
  const Cell* e = at_.entry(v_.front, 0);
  for (unsigned i = n; i-- > 0;) {
    Cell* s = suffix(i);
    if constexpr (!M::nothrow) undo_.started(m_, s);
    else m_.start(s, cells);
    if (i + 1 == n) m_.to_state(s, e + i * at_.entry_cells());
    else m_.prepend(s, e + i * at_.entry_cells(), s + cells);
  }
}

// Computes the sums of levels top..1, and the middle.
template <Monoid M, bool Fingers>
[[gnu::noinline]] void Tree<M, Fingers>::lower_sums(unsigned top, bool left, bool right) {
  const unsigned height = v_.height;
  for (unsigned k = std::min(top, height - 1); k > 0; --k) {
    if (right) {
      fresh(right_sum(k));
      if (k + 1 == height) m_.copy_state(right_sum(k), right_local(k));
      else m_.combine(right_sum(k), right_sum(k + 1), right_local(k));
    }
    if (left) {
      fresh(left_sum(k));
      m_.combine(left_sum(k), left_local(k), left_sum(k + 1));
    }
  }
  fresh(middle());
  if (height == 1) m_.copy_state(middle(), left_sum(1));
  else m_.combine(middle(), left_sum(1), right_sum(1));
}

// Both spines below level `top`.
template <Monoid M, bool Fingers>
void Tree<M, Fingers>::find_spines(unsigned top) {
  if (top >= v_.height) {
    top = v_.height;
    levels_[top] = {v_.root, v_.root, kLast, kFirst};
  }
  for (unsigned k = top; k > 0; --k) {
    const Inner* l = inner(levels_[k].left);
    const Inner* r = inner(levels_[k].right);
    levels_[k - 1] = {at_.child(l, 0), at_.child(r, r->count - 1u), at_.separators(l)[1],
                      at_.separators(r)[r->count - 1]};
  }
  v_.front = leaf(levels_[0].left);
  v_.back = leaf(levels_[0].right);
}

template <Monoid M, bool Fingers>
void Tree<M, Fingers>::repair(Scope s) {
  const unsigned height = v_.height;
  s.top = std::min(s.top, height);
  late_.leaf = nullptr;
  find_spines(s.top);
  if constexpr (!Fingers) {
    if (height > 0) refresh(inner(v_.root), 0, v_.root->count);
    return;
  }
  for (unsigned k = 1; k <= s.top; ++k) {
    Inner* l = inner(levels_[k].left);
    Inner* r = inner(levels_[k].right);
    if (k == height) {
      refresh(l, 1, l->count - 1u);
      fresh(left_sum(k));
      fold_children(left_sum(k), l, 1, l->count - 1u);
      forget(at_.state(l, 0));
      forget(at_.state(l, l->count - 1u));
      break;
    }
    if (s.right) {
      refresh(r, 0, r->count - 1u);
      fresh(right_local(k));
      fold_children(right_local(k), r, 0, r->count - 1u);
      forget(at_.state(r, r->count - 1u));
    }
    if (s.left) {
      refresh(l, 1, l->count);
      fresh(left_local(k));
      fold_children(left_local(k), l, 1, l->count);
      forget(at_.state(l, 0));
    }
  }
  if (height == 0) {
    s.front = s.back = true;
    fresh(middle());
    m_.set_identity(middle());
  } else if (s.top > 0) {
    lower_sums(s.top, s.left || s.top == height, s.right);
  }
  if (s.front) suffixes(v_.front->count);
  if (s.back) {
    fresh(back_state());
    if (height == 0) m_.set_identity(back_state());
    else fold_entries(back_state(), v_.back, 0, v_.back->count);
  }
}

template <Monoid M, bool Fingers>
template <class F>
void Tree<M, Fingers>::visit(const Head* x, F& f) const {
  for (unsigned i = 0; i < x->count; ++i) {
    if (x->level == 0) f(at_.times(leaf(x))[i], static_cast<const Cell*>(at_.entry(leaf(x), i)));
    else visit(at_.child(inner(x), i), f);
  }
}

}  // namespace sash
