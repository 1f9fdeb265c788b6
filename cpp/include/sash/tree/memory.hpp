// FingerTree's memory: nodes, the states it keeps outside nodes, and undoing.
//
// A subtree of trivial contents is given up in O(1): it waits in a list, and each later request for
// a node, or its return, takes a few of the waiting nodes apart (bulk FiBA, section 4).
// Contents that hold references are released at once.
#pragma once

#include "sash/finger_tree.hpp"

namespace sash {

template <Monoid M, bool Fingers>
Tree<M, Fingers>::Tree(M m, TreeShape shape)
    : m_(std::move(m)),
      at_(m_, shape),
      cells_(std::make_unique_for_overwrite<Cell[]>(4 * slot_cells(m_))),
      leaves_(at_.leaf_bytes),
      inners_(at_.inner_bytes) {
  for (Cell* s : {back_state(), middle()}) {
    m_.start(s, slot_cells(m_));
    m_.set_identity(s);
  }
  reserve_levels(2);
}

template <Monoid M, bool Fingers>
Tree<M, Fingers>::Tree(Tree&& o) noexcept
    : m_(o.m_),
      at_(o.at_),
      v_(std::exchange(o.v_, {})),
      levels_(std::move(o.levels_)),
      cells_(std::move(o.cells_)),
      level_cells_(std::move(o.level_cells_)),
      suffix_cells_(std::move(o.suffix_cells_)),
      level_room_(std::exchange(o.level_room_, 0)),
      leaves_(std::move(o.leaves_)),
      inners_(std::move(o.inners_)),
      dropped_(std::exchange(o.dropped_, nullptr)) {}

template <Monoid M, bool Fingers>
Tree<M, Fingers>& Tree<M, Fingers>::operator=(Tree&& o) noexcept {
  if (this != &o) {
    std::destroy_at(this);
    std::construct_at(this, std::move(o));
  }
  return *this;
}

template <Monoid M, bool Fingers>
Tree<M, Fingers>::~Tree() {
  if (cells_ == nullptr) return;  // moved from
  clear();
  if constexpr (!M::trivial) {
    m_.drop_state(back_state());
    m_.drop_state(middle());
    for (unsigned k = 0; k < 4 * level_room_; ++k) m_.drop_state(level_state(0, k));
  }
}

template <Monoid M, bool Fingers>
void Tree<M, Fingers>::clear() {
  if constexpr (!M::trivial) {
    if (v_.root != nullptr) drop_contents(v_.root);
    for (unsigned i = 0; i < v_.suffixes; ++i) m_.drop_state(suffix(i));
    for (unsigned k = 0; k < 4 * level_room_; ++k) m_.drop_state(level_state(0, k));
    m_.drop_state(back_state());
    m_.drop_state(middle());
  }
  m_.set_identity(back_state());
  m_.set_identity(middle());
  v_ = {};
  late_.leaf = nullptr;
  dropped_ = nullptr;
  leaves_.clear();
  inners_.clear();
}

template <Monoid M, bool Fingers>
std::size_t Tree<M, Fingers>::bytes() const {
  std::size_t cells = 4 * slot_cells(m_) + 4 * level_room_ * at_.state_cells();
  if (suffix_cells_) cells += at_.shape.leaf * at_.state_cells();
  return sizeof(*this) + leaves_.bytes() + inners_.bytes() + cells * sizeof(Cell) +
         level_room_ * sizeof(Level) + sprouts_.capacity() * sizeof(Sprout);
}

// Room for spines of this height. Called before anything is changed.
template <Monoid M, bool Fingers>
void Tree<M, Fingers>::reserve_levels(unsigned height) {
  if (height < level_room_) return;
  const unsigned room = height + 2;
  const std::size_t each = 4 * at_.state_cells();
  auto levels = std::make_unique<Level[]>(room);
  auto cells = std::make_unique_for_overwrite<Cell[]>(room * each);
  if (level_room_ != 0) {
    std::copy_n(levels_.get(), level_room_, levels.get());
    std::memcpy(static_cast<void*>(cells.get()), static_cast<const void*>(level_cells_.get()),
                level_room_ * each * sizeof(Cell));
  }
  for (std::size_t i = 4 * level_room_; i < 4 * room; ++i)
    m_.start(cells.get() + i * at_.state_cells(), at_.state_cells());
  levels_ = std::move(levels);
  level_cells_ = std::move(cells);
  level_room_ = room;
}

// ---- undoing: nothing of it is left when no operation throws ------------------------------------
template <Monoid M, bool Fingers>
template <class F>
auto Tree<M, Fingers>::atomically(F&& change) {
  if constexpr (M::nothrow) {
    return change();
  } else {
    const auto release = [this](Head* x, bool subtree) {
      if (!subtree) (x->level == 0 ? leaves_ : inners_).give(x);
      else if constexpr (!M::trivial) drop_contents(x);
      else tree::Arena::next(x) = std::exchange(dropped_, x);
    };
    sprouts_.clear();
    try {
      undo_.image(&v_, sizeof v_);
      undo_.image(levels_.get(), level_room_ * sizeof(Level));
      auto done = change();
      undo_.commit(m_, release);
      return done;
    } catch (...) {
      undo_.rollback(m_, release);
      late_.leaf = nullptr;
      throw;
    }
  }
}
template <Monoid M, bool Fingers>
inline void Tree<M, Fingers>::touch([[maybe_unused]] Head* x) {
  if constexpr (!M::nothrow) undo_.image(x, at_.bytes(x));
}
template <Monoid M, bool Fingers>
inline void Tree<M, Fingers>::fresh([[maybe_unused]] Cell* s) {
  if constexpr (!M::nothrow) undo_.fresh(m_, s);
}
template <Monoid M, bool Fingers>
inline void Tree<M, Fingers>::keep([[maybe_unused]] Cell* s) {
  if constexpr (!M::nothrow) undo_.keep(m_, s);
}
// The slot of a child that has come to a spine: let go of what it refers to.
template <Monoid M, bool Fingers>
inline void Tree<M, Fingers>::forget([[maybe_unused]] Cell* s) {
  if constexpr (!M::nothrow) undo_.fresh(m_, s);
  else if constexpr (!M::trivial) m_.drop_state(s);
}
template <Monoid M, bool Fingers>
inline void Tree<M, Fingers>::forget_level(unsigned k) {
  for (unsigned which = 0; which < 4; ++which) forget(level_state(k, which));
}
template <Monoid M, bool Fingers>
inline void Tree<M, Fingers>::retire_state([[maybe_unused]] Cell* s) {
  if constexpr (!M::nothrow) undo_.retire_state(m_, s);
  else if constexpr (!M::trivial) m_.drop_state(s);
}
template <Monoid M, bool Fingers>
inline void Tree<M, Fingers>::retire_entries([[maybe_unused]] Leaf* x, [[maybe_unused]] unsigned i,
                                             [[maybe_unused]] unsigned n) {
  if constexpr (!M::nothrow) {
    for (unsigned j = i; j < i + n; ++j) undo_.retire(m_, at_.entry(x, j));
  } else if constexpr (!M::trivial) {
    for (unsigned j = i; j < i + n; ++j) m_.drop_entry(at_.entry(x, j));
  }
}

// ---- nodes -----------------------------------------------------------------------------------
template <Monoid M, bool Fingers>
typename Tree<M, Fingers>::Leaf* Tree<M, Fingers>::new_leaf() {
  if constexpr (!M::nothrow) undo_.expect_node();
  reclaim(2);
  auto* x = static_cast<Leaf*>(leaves_.take());
  x->first = static_cast<std::uint16_t>((at_.shape.leaf - at_.fill) / 2);
  x->count = x->level = x->saved = 0;
  if constexpr (!M::nothrow) undo_.born(x);
  return x;
}
template <Monoid M, bool Fingers>
typename Tree<M, Fingers>::Inner* Tree<M, Fingers>::new_inner(unsigned level) {
  if constexpr (!M::nothrow) undo_.expect_node();
  auto* x = static_cast<Inner*>(inners_.take());
  x->first = x->count = x->saved = 0;
  x->level = static_cast<std::uint16_t>(level);
  if constexpr (!M::nothrow) undo_.born(x);
  return x;
}
// So that running out of memory is noticed before anything is changed.
template <Monoid M, bool Fingers>
void Tree<M, Fingers>::reserve_nodes(std::size_t leaves, std::size_t inners) {
  leaves_.reserve(leaves);
  inners_.reserve(inners);
  sprouts_.clear();
  if (sprouts_.capacity() < leaves + inners) sprouts_.reserve(leaves + inners);
  reserve_suffixes();
}
// Not before a second leaf or an eviction needs them: small windows stay small.
template <Monoid M, bool Fingers>
void Tree<M, Fingers>::reserve_suffixes() {
  if (Fingers && !suffix_cells_)
    suffix_cells_ = std::make_unique_for_overwrite<Cell[]>(at_.shape.leaf * at_.state_cells());
}
template <Monoid M, bool Fingers>
void Tree<M, Fingers>::give(Head* x) {
  if (x->level == 0) reclaim(2);
  if constexpr (!M::nothrow) undo_.freed(x, false);
  else (x->level == 0 ? leaves_ : inners_).give(x);
}
template <Monoid M, bool Fingers>
void Tree<M, Fingers>::give_subtree(Head* x) {
  if constexpr (!M::nothrow) undo_.freed(x, true);
  else if constexpr (!M::trivial) drop_contents(x);
  else tree::Arena::next(x) = std::exchange(dropped_, x);
#ifdef SASH_FREE_AT_ONCE  // for the benchmark that shows what waiting is good for
  reclaim(~0u);
#endif
}
template <Monoid M, bool Fingers>
void Tree<M, Fingers>::reclaim(unsigned steps) {
  for (; dropped_ != nullptr && steps > 0; --steps) {
    Head* x = dropped_;
    dropped_ = static_cast<Head*>(tree::Arena::next(x));
    if (x->level == 0) {
      leaves_.give(x);
      continue;
    }
    for (unsigned i = 0; i < x->count; ++i) {
      Head* child = at_.child(inner(x), i);
      tree::Arena::next(child) = std::exchange(dropped_, child);
    }
    inners_.give(x);
  }
}
// Releases what a subtree holds, and its nodes.
template <Monoid M, bool Fingers>
void Tree<M, Fingers>::drop_contents(Head* x) {
  for (unsigned i = 0; i < x->count; ++i) {
    if (x->level == 0) {
      m_.drop_entry(at_.entry(leaf(x), i));
    } else {
      m_.drop_state(at_.state(inner(x), i));
      drop_contents(at_.child(inner(x), i));
    }
  }
  (x->level == 0 ? leaves_ : inners_).give(x);
}

}  // namespace sash
