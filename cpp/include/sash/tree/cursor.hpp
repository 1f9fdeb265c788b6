// FingerTree: the entry at a time, or the next one after it.
#pragma once

#include "sash/finger_tree.hpp"

namespace sash {

template <Monoid M, bool Fingers>
const typename M::Cell* Tree<M, Fingers>::at_or_after(Time t, Time& found) const {
  if (v_.size == 0 || t > youngest()) return nullptr;
  const Head* x = v_.root;
  const Head* right = nullptr;  // the nearest subtree right of the way down
  while (x->level > 0) {
    const Inner* n = inner(x);
    const unsigned i = tree::count_below<true>(at_.separators(n) + 1, n->count - 1u, t);
    if (i + 1u < n->count) right = at_.child(n, i + 1);
    x = at_.child(n, i);
  }
  unsigned i = tree::count_below<false>(at_.times(leaf(x)), leaf(x)->count, t);
  if (i == leaf(x)->count) {
    for (x = right; x->level > 0;) x = at_.child(inner(x), 0);
    i = 0;
  }
  found = at_.times(leaf(x))[i];
  return at_.entry(leaf(x), i);
}

}  // namespace sash
