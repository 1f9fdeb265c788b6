// FingerTree: inserting one entry.
//
// In order, an entry goes to the end of the back leaf: one combine. A late one is looked for from
// the nearer finger: up the spine until a node covers its time, then down. A node that overflows
// leaves new siblings, which the level above adopts (grow.hpp).
#pragma once

#include "sash/finger_tree.hpp"

namespace sash {

template <Monoid M, bool Fingers>
template <class Put>
inline void Tree<M, Fingers>::add(Time t, Put&& put) {
  if constexpr (Fingers) {
    Leaf* b = v_.back;
    if (b != nullptr && (v_.size == 0 || t > youngest()) && b->count < at_.fill &&
        b->first + b->count < at_.shape.leaf) {
      Cell* e = at_.entry(b, b->count);
      m_.start(e, at_.entry_cells());
      put(e);
      if constexpr (M::nothrow) {
        m_.append(back_state(), e);
      } else {
        try {
          m_.append(back_state(), e);
        } catch (...) {
          m_.drop_entry(e);
          throw;
        }
      }
      at_.times(b)[b->count++] = t;
      ++v_.size;
      return;
    }
  }
  Cell* e = incoming();
  m_.start(e, at_.entry_cells());
  put(e);
  if constexpr (M::trivial) {
    add_late(t, e);
  } else {
    try {
      add_late(t, e);
    } catch (...) {
      m_.drop_entry(e);
      throw;
    }
  }
}

// Flattened: a late entry is one function, but for what happens rarely.
template <Monoid M, bool Fingers>
[[gnu::flatten]] void Tree<M, Fingers>::add_late(Time t, Cell* entry) {
  if (v_.root == nullptr) add_first();
  if (v_.size != 0 && t > youngest() && v_.back->count >= at_.fill) return append_leaf(t, entry);
  Path& p = find_late(t);
  Leaf* x = p.leaf;
  const unsigned i = position(p, t);
  if (i < x->count && at_.times(x)[i] == t) return merge_at(p, i, entry);
  if (x->count == at_.shape.leaf) return split_leaf(p, i, t, entry);
  atomically([&] {
    touch(x);
    put(x, i, t, entry);
    settle(p, i, at_.entry(x, i), 1);
    p.run = i > 0 && i == p.next;
    p.next = i + 1;
    last_late_ = t;
    return true;
  });
}

template <Monoid M, bool Fingers>
[[gnu::noinline]] void Tree<M, Fingers>::add_first() {
  atomically([&] {
    v_.root = v_.front = v_.back = new_leaf();
    find_spines(0);
    return true;
  });
}

template <Monoid M, bool Fingers>
inline void Tree<M, Fingers>::put(Leaf* x, unsigned i, Time t, const Cell* entry) {
  at_.open(x, i);
  at_.times(x)[i] = t;
  std::memcpy(static_cast<void*>(at_.entry(x, i)), static_cast<const void*>(entry),
              at_.entry_cells() * sizeof(Cell));
  ++v_.size;
}

template <Monoid M, bool Fingers>
[[gnu::noinline]] void Tree<M, Fingers>::merge_at(const Path& p, unsigned i, Cell* entry) {
  Cell* old = at_.entry(p.leaf, i);
  if constexpr (M::nothrow) {
    m_.merge_entry(old, entry);
    settle(p, i, entry, 0);
    m_.drop_entry(entry);
  } else {
    Cell* both = merged();
    m_.start(both, at_.entry_cells());
    try {
      m_.copy_entry(both, old);
      m_.merge_entry(both, entry);
      atomically([&] {
        touch(p.leaf);
        retire_entries(p.leaf, i, 1);
        std::copy_n(both, at_.entry_cells(), old);
        settle(p, i, entry, 0);
        return true;
      });
    } catch (...) {
      m_.drop_entry(both);
      throw;
    }
    m_.drop_entry(entry);
  }
}

// The back leaf is full: the entry begins a new one. The old one's aggregate is known already.
template <Monoid M, bool Fingers>
[[gnu::noinline]] void Tree<M, Fingers>::append_leaf(Time t, Cell* entry) {
  reserve_levels(v_.height + 1);
  reserve_nodes(1, v_.height + 3);
  atomically([&] {
    Leaf* old = v_.back;
    Leaf* x = new_leaf();
    put(x, 0, t, entry);
    Inner* parent = inner(v_.height > 0 ? levels_[1].right : nullptr);
    if (!Fingers || parent == nullptr || parent->count == at_.shape.fanout) {
      Path p;
      p.leaf = old;
      p.joint = 0;
      p.right = true;
      Scope s = scope(p);
      complete(p);
      if constexpr (!Fingers) {
        p.joint = v_.height;
        mark(p);
      }
      sprouts_.assign(1, {t, x, 0});
      grow_up(p, 0, s);
      repair(s);
      return true;
    }
    const unsigned n = parent->count;
    touch(parent);
    at_.open(parent, n);
    at_.separators(parent)[n] = t;
    at_.links(parent)[n] = {x, kUnknown};
    m_.start(at_.state(parent, n), at_.state_cells());
    at_.links(parent)[n - 1].count = old->count;
    fresh(at_.state(parent, n - 1));
    m_.copy_state(at_.state(parent, n - 1), back_state());
    const auto extend = [&](Cell* s) {
      keep(s);
      m_.combine(s, s, back_state());
    };
    extend(middle());
    if (v_.height == 1) {
      extend(left_sum(1));
    } else {
      extend(right_local(1));
      extend(right_sum(1));
    }
    fresh(back_state());
    m_.to_state(back_state(), at_.entry(x, 0));
    late_.leaf = nullptr;
    levels_[0].right = v_.back = x;
    levels_[0].right_begin = t;
    return true;
  });
}

template <Monoid M, bool Fingers>
[[gnu::noinline]] void Tree<M, Fingers>::split_leaf(Path& p, unsigned i, Time t, Cell* entry) {
  reserve_levels(v_.height + 1);
  reserve_nodes(1, v_.height + 3);
  atomically([&] {
    Leaf* a = p.leaf;
    Leaf* b = new_leaf();
    // A run of late entries leaves full leaves behind, as entries in order do.
    const bool run = i > 0 && at_.times(a)[i - 1] == last_late_;
    const unsigned most = a->count - (a == v_.back ? 1u : at_.leaf_min);
    const unsigned left = run ? std::clamp(i, at_.leaf_min, most) : a->count / 2u;
    const unsigned right = a->count - left;
    Scope s = scope(p);
    mark(p);
    complete(p);
    touch(a);
    b->first = static_cast<std::uint16_t>((at_.shape.leaf - right) / 2);
    at_.move_to_back(b, a, left, right);
    a->count = static_cast<std::uint16_t>(left);
    if (i <= left) put(a, i, t, entry);
    else put(b, i - left, t, entry);
    sprouts_.assign(1, {at_.times(b)[0], b, 0});
    grow_up(p, 0, s);
    repair(s);
    last_late_ = t;
    return true;
  });
}

}  // namespace sash
