// Nodes of a finger B-tree: how they lie in memory, and moving slots within and between them.
//
// A node is a header and parallel arrays. Its slots occupy [first, first + count) of each array, so
// the oldest slot leaves without moving the others, and a gap opens towards the nearer end.
//
//   leaf    times[W]  entries[W]
//   inner   separators[F]  links[F]  aggregates[F]        (all about the children)
//
// Slots inside the range are started (they hold something or nothing); the rest is raw memory.
// Entries and states are trivially relocatable, so moving slots is memmove.
#pragma once

#include <algorithm>
#include <cstring>

#include "sash/monoid.hpp"

namespace sash {

using Time = std::int64_t;

// Slots per leaf and per inner node. A leaf needs 2, an inner node 4.
struct TreeShape {
  std::uint32_t leaf, fanout;
};

// Wide nodes suit cheap combines. Costly ones make the recomputation of a node count. Big states
// need leaves wide enough to share one state among many entries, but the front leaf keeps a state
// for each of its entries.
template <Monoid M>
TreeShape default_shape(const M& m) {
  const std::size_t bytes = m.state_cells() * sizeof(typename M::Cell);
  if (!M::nothrow) return {16, 8};
  if (bytes <= 32) return {78, 48};
  if (bytes <= 256) return {62, 16};
  return {40, 16};
}

namespace tree {

inline constexpr unsigned kMaxHeight = 40;
inline constexpr std::uint64_t kUnknown = ~std::uint64_t{0};

struct Head {
  void* block;                 // of the arena
  std::uint16_t first, count;  // slots in use
  std::uint16_t level;         // 0: leaf
  std::uint16_t saved;         // its image is in the undo log
};
struct Leaf : Head {};
struct Inner : Head {};

// One child. `count` entries below it; unknown: count and aggregate are to be computed again.
struct Link {
  Head* child;
  std::uint64_t count;
};

// How many of a[0..n) are <= t (or < t). Three probes at a time, whose loads are independent; the
// number of rounds depends on n alone, so hardly a branch is mispredicted.
template <bool OrEqual>
inline unsigned count_below(const Time* a, unsigned n, Time t) {
  const auto below = [t](Time x) -> std::size_t { return OrEqual ? x <= t : x < t; };
  const Time* at = a;
  while (n > 3) {
    const std::size_t q = n / 4;  // taken as often as a probe is below: by masks, not by branches
    at += (q & -below(at[q - 1])) + (q & -below(at[2 * q - 1])) + (q & -below(at[3 * q - 1]));
    n -= static_cast<unsigned>(3 * q);
  }
  std::size_t rest = 0;
  for (unsigned i = 0; i < n; ++i) rest += below(at[i]);
  return static_cast<unsigned>(static_cast<std::size_t>(at - a) + rest);
}

template <Monoid M>
class Layout {
 public:
  using Cell = typename M::Cell;

  Layout(const M& m, TreeShape s)
      : shape{std::clamp<std::uint32_t>(s.leaf, 2, 1u << 14),
              std::clamp<std::uint32_t>(s.fanout, 4, 1u << 14)},
        entry_cells_(m.entry_cells()),
        state_cells_(m.state_cells()) {
    entries_at_ = align(sizeof(Head) + shape.leaf * sizeof(Time));
    leaf_bytes = align(entries_at_ + shape.leaf * entry_cells() * sizeof(Cell));
    links_at_ = align(sizeof(Head) + shape.fanout * sizeof(Time));
    states_at_ = align(links_at_ + shape.fanout * sizeof(Link));
    inner_bytes = align(states_at_ + shape.fanout * state_cells() * sizeof(Cell));
    leaf_min = shape.leaf < 4 ? 1 : std::max(2u, shape.leaf / 8);
    inner_min = std::max(2u, shape.fanout / 8);
    fill = shape.leaf - shape.leaf / 8;
  }

  TreeShape shape;
  std::size_t leaf_bytes, inner_bytes;
  unsigned leaf_min, inner_min;
  unsigned fill;  // entries at which appending closes a leaf: room is left for late ones

  std::size_t entry_cells() const {
    if constexpr (M::fixed_cells == 1) return 1;
    else return entry_cells_;
  }
  std::size_t state_cells() const {
    if constexpr (M::fixed_cells == 1) return 1;
    else return state_cells_;
  }
  unsigned capacity(const Leaf*) const { return shape.leaf; }
  unsigned capacity(const Inner*) const { return shape.fanout; }
  unsigned minimum(const Head* x) const { return x->level == 0 ? leaf_min : inner_min; }
  std::size_t bytes(const Head* x) const { return x->level == 0 ? leaf_bytes : inner_bytes; }

  Time* times(const Leaf* x) const { return keys(x) + x->first; }
  Time* separators(const Inner* x) const { return keys(x) + x->first; }
  Link* links(const Inner* x) const { return links0(x) + x->first; }
  Cell* entry(const Leaf* x, unsigned i) const { return entry0(x, x->first + i); }
  Cell* state(const Inner* x, unsigned i) const { return state0(x, x->first + i); }
  Head* child(const Inner* x, unsigned i) const { return links(x)[i].child; }

  // A leaf's times: they are wanted as soon as its header has arrived.
  void prefetch(const Head* x) const {
    const auto* p = raw(x);
    const std::size_t bytes = sizeof(Head) + shape.leaf * sizeof(Time);
    for (std::size_t i = 0; i < bytes; i += 64) __builtin_prefetch(p + i);
  }

  // Makes n raw slots at position i. The node has room for them.
  template <class Node>
  void open(Node* x, unsigned i, unsigned n = 1) const {
    const unsigned room = capacity(x) - x->first - x->count;
    if (n == 1 && room > 0 && x->count - i <= kShort) {
      raise(x, x->first + i, x->first + x->count);
    } else if (i == x->count) {
      if (n > room) slide(x, 0);
    } else if (i == 0 && n > x->first && n <= room) {
      slide(x, x->first + room);  // further smaller ones will follow cheaply
      x->first -= n;
    } else if (n <= x->first && (i < x->count - i || n > room)) {
      relocate(x, x->first - n, x, x->first, i);
      x->first -= n;
    } else {
      const unsigned down = n > room ? n - room : 0;
      relocate(x, x->first + n - down + i, x, x->first + i, x->count - i);
      relocate(x, x->first - down, x, x->first, i);
      x->first -= down;
    }
    x->count += n;
  }

  // Takes away n slots at position i, which are raw already.
  template <class Node>
  void close(Node* x, unsigned i, unsigned n = 1) const {
    const unsigned after = x->count - i - n;
    if (i < after) {
      relocate(x, x->first + n, x, x->first, i);
      x->first += n;
    } else {
      relocate(x, x->first + i, x, x->first + i + n, after);
    }
    x->count -= n;
  }

  // Moves n slots of a, from position i on, to the end of b.
  template <class Node>
  void move_to_back(Node* b, Node* a, unsigned i, unsigned n) const {
    if (b->first + b->count + n > capacity(b)) slide(b, 0);
    relocate(b, b->first + b->count, a, a->first + i, n);
    b->count += n;
  }

  // The same from plain arrays.
  void copy_to_back(Leaf* b, const Time* t, const Cell* e, unsigned n) const {
    if (b->first + b->count + n > capacity(b)) slide(b, 0);
    shift(keys(b) + b->first + b->count, t, n);
    shift(entry0(b, b->first + b->count), e, n * entry_cells());
    b->count += n;
  }

  // Makes a and its right neighbour b hold `left` slots and the rest.
  template <class Node>
  void share(Node* a, Node* b, unsigned left) const {
    if (left >= a->count) {
      const unsigned n = left - a->count;
      move_to_back(a, b, 0, n);
      b->first += n;
      b->count -= n;
    } else {
      const unsigned n = a->count - left;
      open(b, 0, n);
      relocate(b, b->first, a, a->first + left, n);
      a->count -= n;
    }
  }

 private:
  static std::size_t align(std::size_t n) { return (n + 15) / 16 * 16; }
  static std::byte* raw(const Head* x) {
    return reinterpret_cast<std::byte*>(const_cast<Head*>(x));
  }
  Time* keys(const Head* x) const { return reinterpret_cast<Time*>(raw(x) + sizeof(Head)); }
  Link* links0(const Inner* x) const { return reinterpret_cast<Link*>(raw(x) + links_at_); }
  Cell* entry0(const Leaf* x, std::size_t i) const {
    return reinterpret_cast<Cell*>(raw(x) + entries_at_) + i * entry_cells();
  }
  Cell* state0(const Inner* x, std::size_t i) const {
    return reinterpret_cast<Cell*>(raw(x) + states_at_) + i * state_cells();
  }

  template <class T>
  static void shift(T* to, const T* from, std::size_t n) {
    std::memmove(static_cast<void*>(to), static_cast<const void*>(from), n * sizeof(T));
  }
  // Positions here are those of the arrays.
  void relocate(Leaf* to, unsigned j, const Leaf* from, unsigned i, unsigned n) const {
    shift(keys(to) + j, keys(from) + i, n);
    shift(entry0(to, j), entry0(from, i), n * entry_cells());
  }
  void relocate(Inner* to, unsigned j, const Inner* from, unsigned i, unsigned n) const {
    shift(keys(to) + j, keys(from) + i, n);
    shift(links0(to) + j, links0(from) + i, n);
    shift(state0(to, j), state0(from, i), n * state_cells());
  }
  // Moves slots [i, end) up by one, four at a time from the end; the lowest four are read first and
  // written last, so that only the loop's end is a branch. Within a leaf this beats memmove.
  static constexpr unsigned kShort = M::fixed_cells == 1 ? 40 : 16;
  void raise(Leaf* x, unsigned i, unsigned end) const {
    if constexpr (M::fixed_cells == 1) {
      Time* t = keys(x);
      Cell* e = entry0(x, 0);
      if (end - i >= 4) {
        const Four<Time> t0(t + i);
        const Four<Cell> e0(e + i);
        for (; end > i + 4; end -= 4) {
          const Four<Time> t1(t + end - 4);
          const Four<Cell> e1(e + end - 4);
          t1.write(t + end - 3);
          e1.write(e + end - 3);
        }
        t0.write(t + i + 1);
        e0.write(e + i + 1);
      } else {
        for (; end > i; --end) {
          t[end] = t[end - 1];
          shift(e + end, e + end - 1, 1);
        }
      }
    } else {
      relocate(x, i + 1, x, i, end - i);
    }
  }
  template <class T>
  struct Four {
    alignas(T) unsigned char bytes[4 * sizeof(T)];
    explicit Four(const T* from) {
      std::memcpy(bytes, static_cast<const void*>(from), sizeof bytes);
    }
    void write(T* to) const { std::memcpy(static_cast<void*>(to), bytes, sizeof bytes); }
  };
  void raise(Inner* x, unsigned i, unsigned end) const { relocate(x, i + 1, x, i, end - i); }
  template <class Node>
  void slide(Node* x, unsigned first) const {
    relocate(x, first, x, x->first, x->count);
    x->first = static_cast<std::uint16_t>(first);
  }

  std::size_t entry_cells_, state_cells_;
  std::size_t entries_at_, links_at_, states_at_;
};

}  // namespace tree
}  // namespace sash
