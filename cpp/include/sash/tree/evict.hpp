// FingerTree: evicting the oldest entry, any entry, or all up to a time.
//
// The front leaf loses entries without being touched up until it is empty. Other nodes that become
// too small share with a neighbour or join it.
#pragma once

#include "sash/finger_tree.hpp"

namespace sash {

template <Monoid M, bool Fingers>
inline bool Tree<M, Fingers>::evict() {
  if (v_.size == 0) return false;
  if constexpr (!Fingers) {
    return evict(oldest());
  } else {
    Leaf* x = v_.front;
    if (v_.suffixes == 0) {  // one leaf: turn what came in since into suffixes
      atomically([&] {
        suffixes(x->count);
        fresh(back_state());
        m_.set_identity(back_state());
        return true;
      });
    }
    if (x->count == 1 && v_.height > 0) {
      remove_front();
      return true;
    }
    if (dropped_ != nullptr) [[unlikely]]
      reclaim(1);
    Cell* entry = at_.entry(x, 0);
    Cell* state = suffix(0);
    ++v_.suffix_at;
    --v_.suffixes;
    ++x->first;
    --x->count;
    --v_.size;
    m_.drop_state(state);
    m_.drop_entry(entry);
    return true;
  }
}

// The last entry of the front leaf, and the leaf.
template <Monoid M, bool Fingers>
void Tree<M, Fingers>::remove_front() {
  atomically([&] {
    Leaf* x = v_.front;
    touch(x);
    retire_entries(x, 0, 1);
    x->count = 0;
    --v_.size;
    unlink(inner(levels_[1].left), 0);
    Scope s{1, v_.height > 1, false, true, false};
    for (unsigned k = 1; k < v_.height && levels_[k].left->count < at_.inner_min; ++k)
      rejoin(inner(levels_[k + 1].left), 0, s);
    shrink_root(s);
    repair(s);
    return true;
  });
}

template <Monoid M, bool Fingers>
bool Tree<M, Fingers>::evict(Time t) {
  if (v_.size == 0) return false;
  Path& p = find_late(t);
  const unsigned i = position(p, t);
  if (i == p.leaf->count || at_.times(p.leaf)[i] != t) return false;
  if (Fingers && i == 0 && p.leaf == v_.front) return evict();
  atomically([&] {
    remove_at(p, i);
    return true;
  });
  return true;
}

template <Monoid M, bool Fingers>
bool Tree<M, Fingers>::too_small(const Head* x) const {
  if (v_.height == 0) return false;
  return x->count < (x == v_.front || x == v_.back ? 1u : at_.minimum(x));
}

template <Monoid M, bool Fingers>
void Tree<M, Fingers>::remove_at(Path& p, unsigned i) {
  Leaf* x = p.leaf;
  touch(x);
  retire_entries(x, i, 1);
  at_.close(x, i);
  --v_.size;
  if (!too_small(x)) return settle(p, i, nullptr, -1);
  Scope s = scope(p);
  s.top = std::max(s.top, 1u);
  mark(p);
  complete(p);
  if (x->count == 0) unlink(p.step[1].node, p.step[1].index);
  else rejoin(p.step[1].node, p.step[1].index, s);
  for (unsigned k = 1; k < v_.height && p.step[k].node->count < at_.inner_min; ++k)
    rejoin(p.step[k + 1].node, p.step[k + 1].index, s);
  shrink_root(s);
  repair(s);
}

// Takes out a child that is empty, or merged with its left neighbour.
template <Monoid M, bool Fingers>
void Tree<M, Fingers>::unlink(Inner* parent, unsigned i) {
  touch(parent);
  give(at_.child(parent, i));
  retire_state(at_.state(parent, i));
  if (i == 0 && parent->count > 1) at_.separators(parent)[1] = at_.separators(parent)[0];
  at_.close(parent, i);
}

// A child has too few slots: it joins a neighbour, or both share what they have.
template <Monoid M, bool Fingers>
void Tree<M, Fingers>::rejoin(Inner* parent, unsigned i, Scope& s) {
  if (i + 1 == parent->count) --i;
  Head* a = at_.child(parent, i);
  Head* b = at_.child(parent, i + 1);
  s.top = std::max<unsigned>(s.top, parent->level);
  s.left = s.left || (a->level > 0 && a == levels_[a->level].left);
  s.right = s.right || (b->level > 0 && b == levels_[b->level].right);
  s.front = s.front || a == v_.front;
  s.back = s.back || b == v_.back;
  touch(parent);
  touch(a);
  touch(b);
  at_.links(parent)[i].count = at_.links(parent)[i + 1].count = kUnknown;
  if (a->level == 0) {
    join(parent, i, leaf(a), leaf(b));
    return;
  }
  at_.separators(inner(b))[0] = at_.separators(parent)[i + 1];
  join(parent, i, inner(a), inner(b));
}

template <Monoid M, bool Fingers>
template <class Node>
void Tree<M, Fingers>::join(Inner* parent, unsigned i, Node* a, Node* b) {
  const unsigned cap = at_.capacity(a), total = a->count + b->count;
  if (total <= cap - cap / 8) {
    at_.move_to_back(a, b, 0, b->count);
    b->count = 0;
    unlink(parent, i + 1);
    return;
  }
  at_.share(a, b, (total + 1) / 2);
  if constexpr (std::is_same_v<Node, Leaf>) at_.separators(parent)[i + 1] = at_.times(b)[0];
  else at_.separators(parent)[i + 1] = at_.separators(b)[0];
}

template <Monoid M, bool Fingers>
void Tree<M, Fingers>::shrink_root(Scope& s) {
  while (v_.height > 0 && v_.root->count == 1) {
    Inner* x = inner(v_.root);
    touch(x);
    v_.root = at_.child(x, 0);
    retire_state(at_.state(x, 0));
    x->count = 0;
    give(x);
    forget_level(v_.height);
    s.top = --v_.height;
    s.left = s.right = true;
  }
}

template <Monoid M, bool Fingers>
std::size_t Tree<M, Fingers>::evict_many(Time t) {
  if (v_.size == 0 || t < oldest()) return 0;
  const std::size_t before = v_.size;
  Leaf* x = v_.front;
  const unsigned n = tree::count_below<true>(at_.times(x), x->count, t);
  if (t >= youngest()) {
    atomically([&] {
      for (unsigned i = 0; i < v_.suffixes; ++i) retire_state(suffix(i));
      for (Cell* s : {back_state(), middle()}) {
        fresh(s);
        m_.set_identity(s);
      }
      for (unsigned k = 1; k <= v_.height; ++k) forget_level(k);
      give_subtree(v_.root);
      v_ = {};
      late_.leaf = nullptr;
      return true;
    });
  } else if (Fingers && n <= v_.suffixes && n < x->count) {
    v_.size -= n;
    v_.suffixes -= n;
    v_.suffix_at += n;
    x->count -= n;
    x->first += n;
    if constexpr (!M::trivial) {
      for (unsigned i = 0; i < n; ++i) {
        m_.drop_state(suffix(i) - n * at_.state_cells());
        m_.drop_entry(at_.entry(x, 0) - (n - i) * at_.entry_cells());
      }
    }
  } else {
    atomically([&] {
      cut(t);
      return true;
    });
  }
  return before - v_.size;
}

template <Monoid M, bool Fingers>
void Tree<M, Fingers>::drop_front(Inner* x, unsigned n) {
  touch(x);
  for (unsigned i = 0; i < n; ++i) {
    retire_state(at_.state(x, i));
    give_subtree(at_.child(x, i));
  }
  x->first += n;
  x->count -= n;
  at_.links(x)[0].count = kUnknown;
}

// Drops all up to t; something stays. The path to what becomes the front leaf is the new left spine.
template <Monoid M, bool Fingers>
void Tree<M, Fingers>::cut(Time t) {
  unsigned top = Fingers ? 0 : v_.height;
  while (top < v_.height && t >= levels_[top].left_end) ++top;
  Path p;
  p.joint = top;
  p.right = false;
  complete(p);
  const auto entries = [&](const Inner* x, unsigned i, unsigned j) {
    std::size_t sum = 0;
    for (; i < j; ++i) sum += at_.links(x)[i].count;
    return sum;
  };
  std::size_t gone = 0;
  if (Fingers && top > 0) {
    gone = v_.front->count;
    for (unsigned k = 1; k < top; ++k)
      gone += entries(inner(levels_[k].left), 1, levels_[k].left->count);
  }
  Head* x = levels_[top].left;
  for (unsigned k = top; k > 0; --k) {
    Inner* n = inner(x);
    const unsigned i = tree::count_below<true>(at_.separators(n) + 1, n->count - 1u, t);
    gone += entries(n, Fingers && k == top ? 1 : 0, i);
    p.step[k] = {n, i};
    x = at_.child(n, i);
  }
  p.leaf = leaf(x);
  unsigned n = tree::count_below<true>(at_.times(p.leaf), p.leaf->count, t);
  v_.size -= gone + n;
  if (n == p.leaf->count) {  // on to the next leaf
    unsigned k = 1;
    while (p.step[k].index + 1 == p.step[k].node->count) ++k;
    top = std::max(top, k);
    x = at_.child(p.step[k].node, ++p.step[k].index);
    for (--k; k > 0; --k) {
      p.step[k] = {inner(x), 0};
      x = at_.child(inner(x), 0);
    }
    p.leaf = leaf(x);
    n = 0;
  }
  for (unsigned k = top; k > 0; --k) drop_front(p.step[k].node, p.step[k].index);
  touch(p.leaf);
  retire_entries(p.leaf, 0, n);
  p.leaf->first += n;
  p.leaf->count -= n;

  const bool whole = top == v_.height;
  Scope s{top, true, whole, true, p.leaf == v_.back};
  shrink_root(s);
  // From above, so that a parent has a child to spare when two of its children join.
  while (top < v_.height && p.step[top].node->count <= at_.inner_min) ++top;
  s.top = std::max(s.top, top);
  for (unsigned k = std::min(top, v_.height); k-- > 1;) {
    if (p.step[k].node->count <= at_.inner_min && k < v_.height) rejoin(p.step[k + 1].node, 0, s);
    shrink_root(s);
  }
  repair(s);
}

}  // namespace sash
