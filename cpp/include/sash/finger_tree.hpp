// FingerTree: sliding-window aggregation for entries in any order; a finger B+-tree (FiBA).
//
//   use      streams out of order, and any range of a window
//   order    any; entries of equal time merge in order of arrival
//   laws     associative; a commutative monoid repairs aggregates by folding
//   cost     insert, evict(t)   O(log d) combines amortised, d = distance from the nearer end;
//            in order           insert 1, evict 1, query 2 combines, amortised, whatever n
//            bulk_evict         O(log m) amortised; nothing is done per dropped node
//            bulk_insert        O(m log(d / m)) amortised
//            query(from, to)    O(log d_from + log d_to + log n_between)
//            worst case of one operation: O(log n), O(W) for a new front leaf
//   space    a time and an entry per slot; leaves filled in order are 7/8 full, others 1/8 to 1
//   paper    FiBA (PVLDB 2019) sections 3 and 4; bulk operations (PVLDB 2023) sections 3 to 5.
//            Ours: all entries in wide leaves, aggregates of children side by side in the parent,
//            suffix aggregates in the front leaf, no parent links, and a third finger where the
//            last late entry went.
//
// Aggregates. The nodes at each end form the left and right spine. A child's aggregate and count
// stand in its parent, except for children on a spine: for those the tree keeps, by level k,
//   right_local(k)  children of the right spine node but the last     (k < height)
//   right_sum(k)    right_sum(k+1) (x) right_local(k)
//   left_local(k)   children of the left spine node but the first     (k < height)
//   left_sum(k)     left_local(k) (x) left_sum(k+1); at the root: its children but first and last
//   middle          left_sum(1) (x) right_sum(1): all between front leaf and back leaf
//   suffixes        of the front leaf, one for each entry
//   back            the back leaf; with one leaf: what came after the suffixes (Two-Stacks Lite)
// An operation that climbed to level k of a spine repairs levels 1..k of that spine only.
//
// Invariants, as numbered by check_invariants():
//   1  all leaves are at level 0 and every child is one level below its parent
//   2  inner nodes have at least F/8 (2) children, leaves W/8 entries; but the root has 2 children,
//      and front and back leaf 1 entry; so k levels of a spine stand for at least (F/8)^(k-1) entries
//   3  times ascend strictly, and child i holds times in [separator(i), separator(i+1))
//   4  the spines lead from the root to front and back leaf, with their bounds
//   5  counts next to links are exact, and so is size()
//   6  aggregates next to links are those of the child
//   7  aggregates kept by level, middle, suffixes and back are as above
//
// ClassicTree is the same without fingers: searches start at the root, every child's aggregate is
// kept in its parent, and 7 does not apply. It costs O(log n) where FingerTree costs O(log d).
#pragma once

#include <limits>
#include <memory>
#include <stdexcept>
#include <type_traits>
#include <utility>
#include <vector>

#include "sash/tree/arena.hpp"
#include "sash/tree/node.hpp"
#include "sash/tree/undo.hpp"

namespace sash {

template <Monoid M, bool Fingers>
class Tree {
 public:
  using Cell = typename M::Cell;
  using In = typename M::In;

  explicit Tree(M m) : Tree(m, default_shape(m)) {}
  Tree(M m, TreeShape shape);
  Tree(const Tree&) = delete;
  Tree& operator=(const Tree&) = delete;
  Tree(Tree&&) noexcept;
  Tree& operator=(Tree&&) noexcept;
  ~Tree();

  // Each either succeeds or throws and changes nothing.
  void insert(Time t, const In& in) {
    add(t, [&](Cell* e) { m_.lift(e, in); });
  }
  void insert_entry(Time t, const Cell* entry) {
    add(t, [&](Cell* e) { m_.copy_entry(e, entry); });
  }
  // lift_into(i, e) writes entry i to e. Times ascend; equal ones merge in this order.
  template <class At>
  void bulk_insert(const Time* times, std::size_t n, At&& lift_into);
  bool evict();                                            // the oldest
  bool evict(Time t);                                      // false if there is none
  std::size_t bulk_evict(Time t) {                         // all <= t; how many they were
    if (v_.size != 0 && v_.front->count > 1) [[likely]] {  // often it is the oldest one alone
      const Time* times = at_.times(v_.front);
      if (t < times[1]) return t < times[0] ? 0 : (evict(), 1);
    }
    return evict_many(t);
  }
  void clear();

  void query(Cell* out) const;                         // all entries
  void query(Time from, Time to, Cell* out) const;     // from <= t <= to
  const Cell* at_or_after(Time t, Time& found) const;  // the entry and its time; null: none

  std::size_t size() const { return v_.size; }
  bool empty() const { return v_.size == 0; }
  Time oldest() const { return at_.times(v_.front)[0]; }
  Time youngest() const { return at_.times(v_.back)[v_.back->count - 1]; }
  int height() const { return static_cast<int>(v_.height); }
  template <class F>
  void for_each(F&& f) const {  // f(time, entry), in order of time
    if (v_.size != 0) visit(v_.root, f);
  }

  void check_invariants() const;
  std::size_t bytes() const;
  const M& monoid() const { return m_; }
  TreeShape shape() const { return at_.shape; }

 private:
  using Head = tree::Head;
  using Leaf = tree::Leaf;
  using Inner = tree::Inner;
  using Link = tree::Link;
  static constexpr std::uint64_t kUnknown = tree::kUnknown;
  static constexpr unsigned kNear = 16;  // so many entries are counted without a search
  static constexpr Time kFirst = std::numeric_limits<Time>::min();
  static constexpr Time kLast = std::numeric_limits<Time>::max();

  struct Vars {  // what an undone operation gets back as a whole
    Head* root = nullptr;
    Leaf *front = nullptr, *back = nullptr;
    std::size_t size = 0;
    unsigned height = 0;
    unsigned suffix_at = 0, suffixes = 0;  // those of the front leaf's first `suffixes` entries
  };
  struct Level {  // the spine nodes, and where their part of time ends or begins
    Head *left, *right;
    Time left_end, right_begin;
  };
  struct Step {
    Inner* node;
    unsigned index;
  };
  // Where a search led: from level `joint` of a spine down to the leaf.
  struct Path {
    Leaf* leaf = nullptr;
    Time begin, last;  // times that belong to the leaf
    unsigned next;     // in the leaf, after what was inserted last
    bool run;          // which itself stood next to the one before
    unsigned joint;
    bool right;
    Step step[tree::kMaxHeight];  // [1..joint]
  };
  // Which spines an operation has changed, and how far up.
  struct Scope {
    unsigned top = 0;
    bool left = false, right = false, front = false, back = false;
  };
  struct Sprout {  // a new node, right of child `after`
    Time separator;
    Head* node;
    unsigned after;
  };

  static Inner* inner(Head* x) { return static_cast<Inner*>(x); }
  static Leaf* leaf(Head* x) { return static_cast<Leaf*>(x); }
  static const Inner* inner(const Head* x) { return static_cast<const Inner*>(x); }
  static const Leaf* leaf(const Head* x) { return static_cast<const Leaf*>(x); }

  // tree/memory.hpp: nodes, states, and undoing
  Cell* fixed(unsigned i) const { return cells_.get() + i * slot_cells(m_); }
  Cell* back_state() const { return fixed(0); }
  Cell* middle() const { return fixed(1); }
  Cell* incoming() const { return fixed(2); }  // the entry being inserted
  Cell* merged() const { return fixed(3); }    // and its merger with one of equal time
  Cell* level_state(unsigned k, unsigned which) const {
    return level_cells_.get() + (4 * k + which) * at_.state_cells();
  }
  Cell* left_local(unsigned k) const { return level_state(k, 0); }
  Cell* left_sum(unsigned k) const { return level_state(k, 1); }
  Cell* right_local(unsigned k) const { return level_state(k, 2); }
  Cell* right_sum(unsigned k) const { return level_state(k, 3); }
  Cell* suffix(unsigned i) const {
    return suffix_cells_.get() + (v_.suffix_at + i) * at_.state_cells();
  }
  template <class F>
  auto atomically(F&& change);
  void touch(Head* x);
  void fresh(Cell* s);
  void keep(Cell* s);
  void forget(Cell* s);
  void forget_level(unsigned k);
  void retire_entries(Leaf* x, unsigned i, unsigned n);
  void retire_state(Cell* s);
  Leaf* new_leaf();
  Inner* new_inner(unsigned level);
  void reserve_nodes(std::size_t leaves, std::size_t inners);
  void reserve_levels(unsigned height);
  void reserve_suffixes();
  void give(Head* x);
  void give_subtree(Head* x);
  [[gnu::noinline]] void reclaim(unsigned steps);
  void drop_contents(Head* x);

  // tree/repair.hpp: aggregates
  void fold_entries(Cell* out, const Leaf* x, unsigned i, unsigned j) const;
  void fold_children(Cell* out, const Inner* x, unsigned i, unsigned j) const;
  void refresh(Inner* x, unsigned i, unsigned j);
  void settle(const Path& p, unsigned position, const Cell* entry, int more);
  void settle_end(const Path& p, unsigned position, const Cell* entry, int more);
  void suffixes(unsigned n);
  void lower_sums(unsigned top, bool left, bool right);
  void find_spines(unsigned top);
  void repair(Scope s);
  template <class F>
  void visit(const Head* x, F& f) const;

  // tree/insert.hpp
  template <class Put>
  void add(Time t, Put&& put);
  void add_late(Time t, Cell* entry);
  void merge_at(const Path& p, unsigned position, Cell* entry);
  void add_first();
  void append_leaf(Time t, Cell* entry);
  void split_leaf(Path& p, unsigned position, Time t, Cell* entry);
  void put(Leaf* x, unsigned position, Time t, const Cell* entry);

  // tree/find.hpp
  unsigned climb(Time t, bool& right) const;
  void find(Time t, Path& p) const;
  Path& find_late(Time t);
  unsigned position(const Path& p, Time t) const;
  void complete(Path& p) const;
  void mark(const Path& p);
  Scope scope(const Path& p) const;

  // tree/grow.hpp
  void grow_up(Path& p, unsigned level, Scope& s);
  void adopt(Inner* x, std::size_t from);

  // tree/evict.hpp
  std::size_t evict_many(Time t);
  void remove_front();
  void remove_at(Path& p, unsigned position);
  bool too_small(const Head* x) const;
  void rejoin(Inner* parent, unsigned index, Scope& s);
  template <class Node>
  void join(Inner* parent, unsigned index, Node* a, Node* b);
  void unlink(Inner* parent, unsigned index);
  void shrink_root(Scope& s);
  void cut(Time t);
  void drop_front(Inner* x, unsigned n);

  // tree/bulk_insert.hpp
  struct Batch {
    const Time* times;
    Cell* entries;
  };
  void grow(Head* x, const Batch& b, std::size_t i, std::size_t j, Scope& s);
  void grow_leaf(Leaf* x, const Batch& b, std::size_t i, std::size_t j);
  struct Plan {
    std::size_t leaves = 0, inners = 0;
  };
  void plan(const Path& p, const Head* top, const Batch& b, std::size_t n);
  std::size_t plan_below(const Head* x, const Batch& b, std::size_t i, std::size_t j, Plan& all);
  static std::size_t splits(std::size_t total, std::size_t capacity);
  void prepare_merges(const Leaf* x, const Batch& b, std::size_t i, std::size_t j);
  void merge_batch(Cell* old, Cell* later);
  void bulk_add(const Batch& b, std::size_t n);
  template <class At>
  bool bulk_append(const Time* times, std::size_t n, At& lift_into);

  // tree/query.hpp
  struct Range;
  void fold_range(const Head* x, Range& r, bool all_after, bool all_before) const;
  void fold_spine(const Head* x, Range& r) const;

  // tree/check.hpp
  struct Below;
  Below check_below(const Head* x, const Time* low, const Time* high) const;
  void check_kept() const;
  [[noreturn]] void broken(int invariant, const char* what, const Head* x) const;
  void check(bool holds, int invariant, const char* what, const Head* x) const {
    if (!holds) broken(invariant, what, x);
  }

  M m_;
  tree::Layout<M> at_;
  Vars v_;
  std::unique_ptr<Level[]> levels_;
  std::unique_ptr<Cell[]> cells_, level_cells_, suffix_cells_;
  unsigned level_room_ = 0;
  tree::Arena leaves_, inners_;
  Time last_late_ = 0;       // the last entry inserted out of order
  Path late_;                // where it went, unless the structure has changed since
  Head* dropped_ = nullptr;  // subtrees given up, not yet taken apart
  std::vector<Sprout> sprouts_;
  struct NoUndo {};
  [[no_unique_address]] std::conditional_t<M::nothrow, NoUndo, tree::Undo<M>> undo_;
};

template <Monoid M>
using FingerTree = Tree<M, true>;
template <Monoid M>
using ClassicTree = Tree<M, false>;

}  // namespace sash

#include "sash/tree/bulk_insert.hpp"
#include "sash/tree/check.hpp"
#include "sash/tree/cursor.hpp"
#include "sash/tree/evict.hpp"
#include "sash/tree/find.hpp"
#include "sash/tree/grow.hpp"
#include "sash/tree/insert.hpp"
#include "sash/tree/memory.hpp"
#include "sash/tree/plan.hpp"
#include "sash/tree/query.hpp"
#include "sash/tree/repair.hpp"
