// FingerTree: aggregates of the window and of any part of it.
#pragma once

#include "sash/finger_tree.hpp"

namespace sash {

template <Monoid M, bool Fingers>
inline void Tree<M, Fingers>::query(Cell* out) const {
  if (v_.size == 0) return m_.set_identity(out);
  if constexpr (!Fingers) {
    if (v_.height == 0) fold_entries(out, v_.front, 0, v_.front->count);
    else fold_children(out, inner(v_.root), 0, v_.root->count);
  } else if (v_.height > 0) {
    m_.combine(out, suffix(0), middle());
    m_.combine(out, out, back_state());
  } else if (v_.suffixes == 0) {
    m_.copy_state(out, back_state());
  } else {
    m_.combine(out, suffix(0), back_state());
  }
}

template <Monoid M, bool Fingers>
struct Tree<M, Fingers>::Range {
  Time from, to;
  Cell* out;
  bool some = false;  // something is in out

  void add(const M& m, const Cell* s) {
    if (some) m.combine(out, out, s);
    else m.copy_state(out, s);
    some = true;
  }
};

template <Monoid M, bool Fingers>
void Tree<M, Fingers>::query(Time from, Time to, Cell* out) const {
  Range r{from, to, out};
  if (v_.size != 0 && from <= to) {
    unsigned k = Fingers ? 0 : v_.height;
    while (from < levels_[k].right_begin && to >= levels_[k].left_end) ++k;
    fold_range(from >= levels_[k].right_begin ? levels_[k].right : levels_[k].left, r, false,
               false);
  }
  if (!r.some) m_.set_identity(out);
}

// Adds what is in range below x. all_after: nothing below x is too early; all_before: nor too late.
template <Monoid M, bool Fingers>
void Tree<M, Fingers>::fold_range(const Head* node, Range& r, bool all_after,
                                  bool all_before) const {
  if (node->level == 0) {
    const Leaf* x = leaf(node);
    const Time* times = at_.times(x);
    unsigned i = all_after ? 0 : tree::count_below<false>(times, x->count, r.from);
    const unsigned j = all_before ? x->count : tree::count_below<true>(times, x->count, r.to);
    for (; i < j; ++i) {
      if (r.some) m_.append(r.out, at_.entry(x, i));
      else m_.to_state(r.out, at_.entry(x, i));
      r.some = true;
    }
    return;
  }
  const Inner* x = inner(node);
  const Time* separators = at_.separators(x) + 1;
  const unsigned last = x->count - 1u;
  const unsigned i = all_after ? 0 : tree::count_below<true>(separators, last, r.from);
  const unsigned j = all_before ? last : tree::count_below<true>(separators, last, r.to);
  for (unsigned c = i; c <= j; ++c) {
    const Head* child = at_.child(x, c);
    const bool after = all_after || c > i, before = all_before || c < j;
    if (!after || !before) {
      fold_range(child, r, after, before);
    } else if (Fingers &&
               (child == levels_[child->level].left || child == levels_[child->level].right)) {
      fold_spine(child, r);
    } else {
      r.add(m_, at_.state(x, c));
    }
  }
}

// All below a node of a spine (not the root).
template <Monoid M, bool Fingers>
void Tree<M, Fingers>::fold_spine(const Head* x, Range& r) const {
  if (x == levels_[x->level].right) {
    for (unsigned k = x->level; k > 0; --k) r.add(m_, right_local(k));
    r.add(m_, back_state());
  } else {
    r.add(m_, suffix(0));
    for (unsigned k = 1; k <= x->level; ++k) r.add(m_, left_local(k));
  }
}

}  // namespace sash
