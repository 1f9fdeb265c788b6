// FingerTree: its invariants, checked one by one. For tests.
#pragma once

#include <optional>
#include <sstream>

#include "sash/finger_tree.hpp"

namespace sash {

template <Monoid M, bool Fingers>
struct Tree<M, Fingers>::Below {
  std::size_t count = 0;
  std::optional<Time> last = {};
};

template <Monoid M, bool Fingers>
void Tree<M, Fingers>::check_invariants() const {
  if (v_.root == nullptr) return check(v_.size == 0, 5, "no node, but a size", nullptr);
  check(v_.root->level == v_.height, 1, "the root's level is not the height", v_.root);
  check(check_below(v_.root, nullptr, nullptr).count == v_.size, 5, "size is wrong", v_.root);
  const Head *l = v_.root, *r = v_.root;
  Time left_end = kLast, right_begin = kFirst;
  for (unsigned k = v_.height;; --k) {
    const Level& at = levels_[k];
    check(at.left == l && at.left_end == left_end, 4, "left spine is wrong", l);
    check(at.right == r && at.right_begin == right_begin, 4, "right spine is wrong", r);
    if (k == 0) break;
    left_end = at_.separators(inner(l))[1];
    right_begin = at_.separators(inner(r))[r->count - 1];
    l = at_.child(inner(l), 0);
    r = at_.child(inner(r), r->count - 1u);
  }
  check(v_.front == l && v_.back == r, 4, "front or back leaf is wrong", l);
  if (Fingers && m_.exact()) check_kept();
}

// Checks the subtree whose times are to be in [*low, *high).
template <Monoid M, bool Fingers>
typename Tree<M, Fingers>::Below Tree<M, Fingers>::check_below(const Head* x, const Time* low,
                                                               const Time* high) const {
  const bool end = x == v_.front || x == v_.back;
  const unsigned least = x == v_.root ? (x->level > 0 ? 2 : 0) : end ? 1 : at_.minimum(x);
  const unsigned cap = x->level > 0 ? at_.shape.fanout : at_.shape.leaf;
  check(x->count >= least && x->first + x->count <= cap, 2, "too few or too many slots", x);
  check(x->saved == 0, 2, "left in the undo log", x);
  Below all;
  if (x->level == 0) {
    const Time* t = at_.times(leaf(x));
    for (unsigned i = 0; i < x->count; ++i) {
      check(i == 0 || t[i - 1] < t[i], 3, "times do not ascend", x);
      check((low == nullptr || *low <= t[i]) && (high == nullptr || t[i] < *high), 3,
            "a time is outside its leaf's part", x);
    }
    all.count = x->count;
    return all;
  }
  const Inner* n = inner(x);
  const Time* s = at_.separators(n);
  for (unsigned i = 0; i < n->count; ++i) {
    const Head* c = at_.child(n, i);
    check(c->level + 1 == n->level, 1, "a child is not one level below", x);
    check(i == 0 || i == 1 || s[i - 1] < s[i], 3, "separators do not ascend", x);
    const Below below = check_below(c, i == 0 ? low : s + i, i + 1 < n->count ? s + i + 1 : high);
    all.count += below.count;
    if (Fingers && (c == levels_[c->level].left || c == levels_[c->level].right)) continue;
    check(at_.links(n)[i].count == below.count, 5, "a child's count is wrong", x);
    if (!m_.exact()) continue;
    Held<M> sum(m_);
    if (c->level == 0) fold_entries(sum.get(), leaf(c), 0, c->count);
    else fold_children(sum.get(), inner(c), 0, c->count);
    check(m_.same_state(sum.get(), at_.state(n, i)), 6, "a child's aggregate is wrong", x);
  }
  return all;
}

template <Monoid M, bool Fingers>
void Tree<M, Fingers>::check_kept() const {
  Held<M> sum(m_), other(m_);
  const auto same = [&](const Cell* s, const char* what, const Head* x) {
    check(m_.same_state(sum.get(), s), 7, what, x);
  };
  const unsigned h = v_.height;
  for (unsigned k = h; k > 0; --k) {
    const Inner* l = inner(levels_[k].left);
    const Inner* r = inner(levels_[k].right);
    fold_children(sum.get(), l, 1, k == h ? l->count - 1u : l->count);
    if (k == h) {
      same(left_sum(k), "the root's own aggregate", l);
      continue;
    }
    same(left_local(k), "left_local", l);
    m_.combine(sum.get(), sum.get(), left_sum(k + 1));
    same(left_sum(k), "left_sum", l);
    fold_children(sum.get(), r, 0, r->count - 1u);
    same(right_local(k), "right_local", r);
    if (k + 1 < h) m_.combine(sum.get(), right_sum(k + 1), sum.get());
    same(right_sum(k), "right_sum", r);
  }
  if (h == 0) m_.set_identity(sum.get());
  else if (h == 1) m_.copy_state(sum.get(), left_sum(1));
  else m_.combine(sum.get(), left_sum(1), right_sum(1));
  same(middle(), "middle", v_.root);
  const unsigned n = v_.suffixes;
  check(h == 0 ? n <= v_.front->count : n == v_.front->count, 7, "number of suffixes", v_.front);
  for (unsigned i = 0; i < n; ++i) {
    fold_entries(sum.get(), v_.front, i, n);
    same(suffix(i), "suffix", v_.front);
  }
  fold_entries(sum.get(), v_.back, h == 0 ? n : 0, v_.back->count);
  same(back_state(), "back", v_.back);
}

template <Monoid M, bool Fingers>
void Tree<M, Fingers>::broken(int invariant, const char* what, const Head* x) const {
  std::ostringstream s;
  s << "tree invariant " << invariant << ": " << what << "; size " << v_.size << ", height "
    << v_.height << ", leaf " << at_.shape.leaf << ", fanout " << at_.shape.fanout;
  if (x != nullptr) {
    s << "; node at level " << x->level << " with " << x->count << " slots from " << x->first
      << ":";
    for (unsigned i = 0; i < x->count; ++i) {
      if (x->level == 0) s << ' ' << at_.times(leaf(x))[i];
      else s << ' ' << at_.separators(inner(x))[i] << '(' << at_.links(inner(x))[i].count << ')';
    }
  }
  throw std::logic_error(s.str());
}

}  // namespace sash
