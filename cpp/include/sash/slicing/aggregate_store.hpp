// The Aggregate Store: the slices of one key, each with its partial aggregate (Scotty, V).
//
//   lazy    a SliceList: windows are folded slice by slice when they are asked for
//   eager   a FingerTree over the slices: any window in O(log n) combines
// `automatic` begins lazily and changes to a tree when a key has more than kMany slices. Both give
// the same aggregates; rounding may differ, since they group slices differently.
#pragma once

#include "sash/coarse.hpp"
#include "sash/finger_tree.hpp"
#include "sash/slicing/slice_list.hpp"

namespace sash::slicing {

enum class Choice { lazy, eager, automatic };

template <Monoid M>
class AggregateStore {
 public:
  using Cell = typename M::Cell;
  static constexpr std::size_t kMany = 64;

  AggregateStore() = default;
  AggregateStore(AggregateStore&&) noexcept = default;
  AggregateStore& operator=(AggregateStore&&) noexcept = default;

  bool eager() const { return tree_ != nullptr; }
  std::size_t size() const { return tree_ ? tree_->size() : list_.size(); }
  bool empty() const { return size() == 0; }
  Time oldest() const { return tree_ ? tree_->oldest() : list_.time(0); }
  Time youngest() const { return tree_ ? tree_->youngest() : list_.time(list_.size() - 1); }

  // The first slice at or after t, if any: its time.
  bool next(Time t, Time& found) const {
    if (tree_) return tree_->at_or_after(t, found) != nullptr;
    const std::size_t i = list_.before(t);
    if (i == list_.size()) return false;
    found = list_.time(i);
    return true;
  }
  const Cell* find(const M& m, Time t) const {
    if (tree_) {
      Time found;
      const Cell* state = tree_->at_or_after(t, found);
      return state != nullptr && found == t ? state : nullptr;
    }
    const std::size_t i = list_.before(t);
    return i < list_.size() && list_.time(i) == t ? list_.state(m, i) : nullptr;
  }
  // A slice at t, or more rows on the right of the one that is there.
  void add(const M& m, Time t, const Cell* state, Choice choice) {
    if (!tree_ &&
        (choice == Choice::eager || (choice == Choice::automatic && list_.size() >= kMany)))
      plant(m);
    if (tree_) return tree_->insert_entry(t, state);
    const std::size_t i = list_.before(t);
    if (i < list_.size() && list_.time(i) == t) {
      Cell* there = list_.state(m, i);
      return m.combine(there, there, state);
    }
    m.copy_state(list_.insert(m, i, t), state);
  }
  void remove(const M& m, Time t) {
    if (tree_) {
      tree_->evict(t);
      return;
    }
    const std::size_t i = list_.before(t);
    if (i < list_.size() && list_.time(i) == t) list_.remove(m, i);
  }
  // Never fails: where evicting would call functions that raise, the tree becomes a list.
  void drop_before(const M& m, Time t) {
    if (tree_ && !tree_->empty() && tree_->oldest() < t) {
      if constexpr (M::nothrow) {
        tree_->bulk_evict(t - 1);
      } else {
        try {
          tree_->bulk_evict(t - 1);
        } catch (...) {
          uproot(m);
        }
      }
      if (tree_ && tree_->empty()) tree_.reset();
    }
    if (!tree_ && list_.size() != 0 && list_.time(0) < t) list_.remove_front(m, list_.before(t));
  }
  // The same slices in a list. Calls no function of an aggregate.
  void uproot(const M& m) {
    if (!tree_) return;
    tree_->for_each(
        [&](Time t, const Cell* state) { m.copy_state(list_.insert(m, list_.size(), t), state); });
    tree_.reset();
  }
  void clear(const M& m) {
    tree_.reset();
    list_.clear(m);
  }
  void query(const M& m, Time from, Time to, Cell* out) const {
    if (tree_) tree_->query(from, to, out);
    else list_.query(m, from, to, out);
  }
  template <class F>
  void for_each(const M& m, F&& f) const {  // f(time, state), in order of time
    if (tree_) return tree_->for_each(f);
    for (std::size_t i = 0; i < list_.size(); ++i) f(list_.time(i), list_.state(m, i));
  }
  void prefetch() const {
    if (!tree_) list_.prefetch();
  }
  std::size_t bytes(const M& m) const { return tree_ ? tree_->bytes() : list_.bytes(m); }

 private:
  using Slices = FingerTree<StatesOf<M>>;
  void plant(const M& m) {
    auto tree = std::make_unique<Slices>(StatesOf<M>(m));
    std::vector<Time> times(list_.size());
    for (std::size_t i = 0; i < times.size(); ++i) times[i] = list_.time(i);
    tree->bulk_insert(times.data(), times.size(),
                      [&](std::size_t i, Cell* to) { m.copy_state(to, list_.state(m, i)); });
    tree_ = std::move(tree);
    list_.clear(m);
  }
  SliceList<M> list_;
  std::unique_ptr<Slices> tree_;
};

}  // namespace sash::slicing
