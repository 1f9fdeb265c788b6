// FingerTree: new nodes finding their parents.
//
// A node that overflows leaves new right siblings, "sprouts". The level above adopts them all at
// once, and may overflow in turn. One entry and a batch go the same way.
#pragma once

#include "sash/finger_tree.hpp"

namespace sash {

// sprouts_ are new right siblings of the path's node at `level`: puts them into the levels above.
template <Monoid M, bool Fingers>
void Tree<M, Fingers>::grow_up(Path& p, unsigned level, Scope& s) {
  for (unsigned k = level + 1; !sprouts_.empty(); ++k) {
    if (k > v_.height) {
      Inner* x = new_inner(k);
      at_.open(x, 0);
      at_.separators(x)[0] = kFirst;
      at_.links(x)[0] = {v_.root, kUnknown};
      m_.start(at_.state(x, 0), at_.state_cells());
      v_.root = x;
      v_.height = k;
      p.step[k] = {x, 0};
      s.left = s.right = true;
      levels_[k] = {x, x, kLast, kFirst};
    }
    const Step at = p.step[k];
    touch(at.node);
    at_.links(at.node)[at.index].count = kUnknown;
    for (Sprout& n : sprouts_) n.after = at.index;
    adopt(at.node, 0);
    s.top = std::max(s.top, k);
    s.left = s.left || (k < v_.height && at.node == levels_[k].left);
    s.right = s.right || (k < v_.height && at.node == levels_[k].right);
  }
}

// Puts sprouts_[from..], in order, among the children of x. Leaves x's new siblings there instead.
template <Monoid M, bool Fingers>
void Tree<M, Fingers>::adopt(Inner* x, std::size_t from) {
  const unsigned cap = at_.shape.fanout, n = x->count;
  const std::size_t total = n + sprouts_.size() - from;
  touch(x);
  const auto place = [&](Inner* to, unsigned i, const Sprout& s) {
    at_.separators(to)[i] = s.separator;
    at_.links(to)[i] = {s.node, kUnknown};
    m_.start(at_.state(to, i), at_.state_cells());
  };
  if (total <= cap) {
    while (sprouts_.size() > from) {
      const unsigned after = sprouts_.back().after;
      std::size_t j = sprouts_.size() - 1;
      while (j > from && sprouts_[j - 1].after == after) --j;
      const auto some = static_cast<unsigned>(sprouts_.size() - j);
      at_.open(x, after + 1, some);
      for (unsigned i = 0; i < some; ++i) place(x, after + 1 + i, sprouts_[j + i]);
      sprouts_.resize(j);
    }
    return;
  }
  // Input in order fills nodes well; elsewhere equal shares leave all of them room.
  const bool packed = x == levels_[x->level].right && sprouts_[from].after + 1 == n;
  const std::size_t most = cap - cap / 8, nodes = (total + most - 1) / most;
  const std::size_t end = sprouts_.size();
  const auto share = [&](std::size_t i) {
    if (!packed) return total / nodes + (i < total % nodes);
    const std::size_t last = total - most * (nodes - 1);
    const std::size_t lent = last < at_.inner_min ? at_.inner_min - last : 0;
    return i + 1 == nodes ? last + lent : i + 2 == nodes ? most - lent : most;
  };
  Inner* old = new_inner(x->level);
  at_.move_to_back(old, x, 0, n);
  x->first = x->count = 0;
  Inner* to = x;
  std::size_t filled = 0, room = share(0);
  const auto next_node = [&](Time separator) {
    to = new_inner(x->level);
    room = share(++filled);
    sprouts_.push_back({separator, to, 0});
  };
  std::size_t j = from;
  for (unsigned i = 0; i < n;) {
    const unsigned run_end = j < end ? sprouts_[j].after + 1 : n;
    while (i < run_end) {
      if (room == 0) next_node(at_.separators(old)[i]);
      const auto run = static_cast<unsigned>(std::min<std::size_t>(room, run_end - i));
      at_.move_to_back(to, old, i, run);
      i += run;
      room -= run;
    }
    for (; j < end && sprouts_[j].after + 1 == i; ++j, --room) {
      if (room == 0) next_node(sprouts_[j].separator);
      const Sprout s = sprouts_[j];
      place(to, to->count++, s);
    }
  }
  old->count = 0;
  give(old);
  sprouts_.erase(sprouts_.begin() + static_cast<std::ptrdiff_t>(from),
                 sprouts_.begin() + static_cast<std::ptrdiff_t>(end));
}

}  // namespace sash
