// FingerTree: finding the leaf a time belongs to, from the nearer finger, and the way back up.
#pragma once

#include "sash/finger_tree.hpp"

namespace sash {

// Up from both ends at once, to the first spine node whose part of time has t in it.
template <Monoid M, bool Fingers>
inline unsigned Tree<M, Fingers>::climb(Time t, bool& right) const {
  unsigned k = 0;
  right = true;
  if constexpr (!Fingers) return v_.height;
  while (t < levels_[k].right_begin) {
    if (t < levels_[k].left_end) {
      right = false;
      break;
    }
    ++k;
  }
  return k;
}

// Late entries come in runs: most go where the one before went, so that path is kept until the
// structure changes.
template <Monoid M, bool Fingers>
inline typename Tree<M, Fingers>::Path& Tree<M, Fingers>::find_late(Time t) {
  if (late_.leaf == nullptr || t < late_.begin || t > late_.last) find(t, late_);
  return late_;
}

// Where t is or belongs in the leaf of p.
template <Monoid M, bool Fingers>
inline unsigned Tree<M, Fingers>::position(const Path& p, Time t) const {
  const Time* times = at_.times(p.leaf);
  const unsigned n = p.leaf->count, i = p.next;
  if (p.run && i <= n && times[i - 1] < t && (i == n || t <= times[i])) return i;
  if (n > kNear && times[n - kNear] < t) {  // most late entries are only a little late
    unsigned below = 0;
    for (unsigned j = n - kNear; j < n; ++j) below += times[j] < t;
    return n - kNear + below;
  }
  return tree::count_below<false>(times, n, t);
}

template <Monoid M, bool Fingers>
inline void Tree<M, Fingers>::find(Time t, Path& p) const {
  p.joint = climb(t, p.right);
  const Level& from = levels_[p.joint];
  Head* x = p.right ? from.right : from.left;
  p.begin = p.right ? from.right_begin : kFirst;
  p.last = p.right ? kLast : from.left_end - 1;
  for (unsigned k = p.joint; k > 0; --k) {
    Inner* n = inner(x);
    const unsigned i = tree::count_below<true>(at_.separators(n) + 1, n->count - 1u, t);
    p.step[k] = {n, i};
    x = at_.child(n, i);
    if (k == 1) at_.prefetch(x);
    if (i > 0) p.begin = at_.separators(n)[i];
    if (i + 1u < n->count) p.last = at_.separators(n)[i + 1] - 1;
  }
  p.leaf = leaf(x);
  p.next = 0;
  p.run = false;
}

// The steps from the joint up to the root, along the spine.
template <Monoid M, bool Fingers>
void Tree<M, Fingers>::complete(Path& p) const {
  for (unsigned k = p.joint + 1; k <= v_.height; ++k) {
    Inner* x = inner(p.right ? levels_[k].right : levels_[k].left);
    p.step[k] = {x, p.right ? x->count - 1u : 0u};
  }
}

// What is known of the path's children no longer holds.
template <Monoid M, bool Fingers>
void Tree<M, Fingers>::mark(const Path& p) {
  for (unsigned k = 1; k <= p.joint; ++k) {
    touch(p.step[k].node);
    at_.links(p.step[k].node)[p.step[k].index].count = kUnknown;
  }
}

// What a change of the leaf of p, and of nodes above it, makes stale.
template <Monoid M, bool Fingers>
typename Tree<M, Fingers>::Scope Tree<M, Fingers>::scope(const Path& p) const {
  const bool below_root = p.joint < v_.height;
  return {p.joint, below_root && !p.right, below_root && p.right, p.leaf == v_.front,
          p.leaf == v_.back};
}

}  // namespace sash
