// One face for all structures, so that each mode is written once.
//
//   insert(time, in)   in-order structures pay no heed to the time
//   evict_many(k, t)   the k oldest, which are those up to time t; in bulk where there is a way
//   insert_many        m entries from a feed, in bulk where there is a way
#pragma once

#include <algorithm>

#include "args.hpp"
#include "kinds.hpp"
#include "sash/finger_tree.hpp"

namespace bench {

using Time = std::int64_t;

// Refuses windows that would take the machine's memory.
inline void refuse_big(std::size_t n, std::size_t bytes_per_entry) {
  constexpr std::size_t most = std::size_t{6} << 30;
  if (n > most / bytes_per_entry)
    throw Usage("n=" + std::to_string(n) + " entries of about " + std::to_string(bytes_per_entry) +
                " bytes are more than 6 GB here: take a smaller window, or a structure or monoid "
                "that keeps less for each entry");
}

// Refuses what only trees can do.
inline void refuse_tree_arguments(const Args& args) {
  if (args.size("d", 0) != 0) throw Usage("d= must be 0: this structure takes entries in order");
  if (args.has("leaf") || args.has("fanout")) throw Usage("leaf= and fanout= are for trees");
}

// Quarters: four times the states that the structure keeps for an entry.
template <class K, class S, unsigned Quarters>
class InOrder {
 public:
  using Kind = K;
  using Structure = S;
  using M = typename K::M;
  using Cell = typename M::Cell;
  static constexpr bool any_order = false;

  InOrder(const Args& args, std::size_t n) : window_(made(args, n)) {}
  const M& monoid() const { return window_->monoid(); }
  std::size_t size() const { return window_->size(); }
  std::size_t bytes() const { return window_->bytes(); }
  void insert(Time, const typename K::In& in) { window_->insert(in); }
  void evict() { window_->evict(); }
  void query(Cell* out) { window_->query(out); }
  void evict_many(std::size_t k, Time) {
    if constexpr (requires { window_->evict_many(k); }) window_->evict_many(k);
    else
      for (; k != 0; --k) window_->evict();
  }
  template <class NextIn>
  void insert_many(const Time*, std::size_t n, NextIn&& next) {
    for (; n != 0; --n) window_->insert(next());
  }

 private:
  static std::unique_ptr<S> made(const Args& args, std::size_t n) {
    refuse_tree_arguments(args);
    const M m = K::monoid();
    refuse_big(n, 8 + sizeof(Cell) * (m.entry_cells() + Quarters * m.state_cells() / 4));
    if constexpr (std::is_constructible_v<S, M, std::size_t>) return std::make_unique<S>(m, n);
    else return std::make_unique<S>(m);
  }
  std::unique_ptr<S> window_;
};

// A Lite structure as the package has it: of big states its coarse form.
template <class K, template <class> class S>
using LiteWindow = std::conditional_t<std::is_same_v<typename K::M, sash::Record>,
                                      InOrder<K, sash::Coarse<S, typename K::M>, 1>,
                                      InOrder<K, S<typename K::M>, 4>>;

template <class K, bool Fingers>
class AnyOrder {
 public:
  using Kind = K;
  using Structure = sash::Tree<typename K::M, Fingers>;
  using M = typename K::M;
  using Cell = typename M::Cell;
  static constexpr bool any_order = true;

  AnyOrder(const Args& args, std::size_t n) : tree_(K::monoid(), shape(args)) {
    refuse_big(n, 2 * (8 + sizeof(Cell) * monoid().entry_cells()) +
                      2 * sizeof(Cell) * monoid().state_cells() / tree_.shape().leaf);
  }
  const M& monoid() const { return tree_.monoid(); }
  std::size_t size() const { return tree_.size(); }
  std::size_t bytes() const { return tree_.bytes(); }
  void insert(Time t, const typename K::In& in) { tree_.insert(t, in); }
  void evict() { tree_.evict(); }
  void query(Cell* out) { tree_.query(out); }
  void query(Time from, Time to, Cell* out) { tree_.query(from, to, out); }
  void evict_many(std::size_t, Time t) { tree_.bulk_evict(t); }
  template <class NextIn>
  void insert_many(const Time* times, std::size_t n, NextIn&& next) {
    tree_.bulk_insert(times, n, [&](std::size_t, Cell* e) { monoid().lift(e, next()); });
  }

  static sash::TreeShape shape(const Args& args) {
    sash::TreeShape shape = sash::default_shape(K::monoid());
    shape.leaf = static_cast<unsigned>(args.size("leaf", shape.leaf));
    shape.fanout = static_cast<unsigned>(args.size("fanout", shape.fanout));
    return shape;
  }

 private:
  Structure tree_;
};

// The times of a window of n entries, d of which stay the youngest: what comes next is inserted
// d entries before the end, right behind what came before it (FiBA, section 5.1.1).
class Times {
 public:
  Times(std::size_t n, std::size_t d) : near_(n - d) {
    if (d > n)
      throw Usage("d=" + std::to_string(d) + " is more than n=" + std::to_string(n) +
                  ": there are no such entries");
  }
  // The time of entry i of the first n.
  Time first(std::size_t i) const { return static_cast<Time>(i) + (i < near_ ? 0 : kFar); }
  std::size_t near() const { return near_; }

 private:
  static constexpr Time kFar = Time{1} << 60;
  std::size_t near_;
};

// Fills a window with entries 0..n of the times that time_of(i) gives.
template <class W, class TimeOf, class NextIn>
void fill(W& window, std::size_t n, TimeOf&& time_of, NextIn&& next) {
  constexpr std::size_t most = 1 << 14;
  std::vector<Time> times(std::min(n, most));
  for (std::size_t at = 0; at < n;) {
    const std::size_t m = std::min(most, n - at);
    for (std::size_t i = 0; i < m; ++i) times[i] = time_of(at + i);
    window.insert_many(times.data(), m, next);
    at += m;
  }
}

}  // namespace bench
