// Intervals: the sessions of one key for one gap, in order of time.
//
// Sessions only ever grow and join: a row inside one changes nothing here, a row within the gap of
// one end moves that end, a row that bridges two makes them one, any other is a session by itself
// (figure 4 of the Scotty paper: cases 1.1, 1.2 and 1.3, 2, 3).
//
//   cost     find O(log n); insert or remove O(log n) and at most kMost moves, wherever it is
//   space    blocks of at most kMost intervals
#pragma once

#include <algorithm>
#include <new>
#include <vector>

#include "sash/slicing/scratch.hpp"
#include "sash/slicing/windows.hpp"

namespace sash::slicing {

struct Interval {
  Time first, last;
  bool operator==(const Interval&) const = default;
};

class Intervals {
 public:
  struct Added {
    Interval now;  // the session that the rows are in
    bool changed;  // false: it was there already
  };
  std::size_t size() const {
    std::size_t n = 0;
    for (const Block& b : blocks_) n += b.size();
    return n;
  }
  bool empty() const { return blocks_.empty(); }
  const Interval& front() const { return blocks_.front().front(); }
  const Interval& back() const { return blocks_.back().back(); }

  // Calls f(session) for each in turn, from the first that ends at or after t on, until it returns
  // false.
  template <class F>
  void each_ending_from(Time t, F&& f) const {
    for (Place p = ending_from(t); there(p); next(p))
      if (!f(at(p))) return;
  }
  // The first that ends at or after t; false: none does.
  bool first_ending_from(Time t, Interval& found) const {
    const Place p = ending_from(t);
    if (there(p)) found = at(p);
    return there(p);
  }
  // The session that t is in; false: none.
  bool around(Time t, Interval& found) const {
    return first_ending_from(t, found) && found.first <= t;
  }

  // Rows from first to last, no two of them further than the gap apart. absorbed(old) is called for
  // each session that becomes part of another.
  template <class F>
  Added add(Time first, Time last, Time gap, F&& absorbed) {
    const Place from = ending_from(first - gap);
    Interval now{first, last};
    std::size_t n = 0;
    for (Place p = from; there(p) && at(p).first <= last + gap; next(p), ++n)
      now = {std::min(now.first, at(p).first), std::max(now.last, at(p).last)};
    if (n == 1 && at(from) == now) return {now, false};
    Place p = from;
    for (std::size_t i = 0; i < n; ++i, next(p)) absorbed(at(p));
    if (n == 0) {
      insert(from, now);
    } else {
      blocks_[from.block][from.index] = now;
      if (n > 1) erase(after(from), n - 1);
    }
    return {now, true};
  }
  // Takes an addition back: the sessions it absorbed are there again.
  template <class Olds>
  void take_back(const Interval& now, const Olds& olds) {
    erase(ending_from(now.last), 1);
    for (const Interval& old : olds) insert(ending_from(old.last), old);
  }
  // Sessions whose last row is before t go.
  void drop_before(Time t) {
    std::size_t n = 0;
    while (n < blocks_.size() && blocks_[n].back().last < t) ++n;
    blocks_.erase(blocks_.begin(), blocks_.begin() + static_cast<std::ptrdiff_t>(n));
    give_back(blocks_);
    if (blocks_.empty() || blocks_[0][0].last >= t) return;
    Block& b = blocks_[0];
    b.erase(b.begin(), b.begin() + static_cast<std::ptrdiff_t>(ending_from(t).index));
    give_back(b);
  }

 private:
  using Block = std::vector<Interval>;
  static constexpr std::size_t kMost = 512;
  struct Place {
    std::size_t block, index;
  };
  bool there(const Place& p) const { return p.block < blocks_.size(); }
  const Interval& at(const Place& p) const { return blocks_[p.block][p.index]; }
  void next(Place& p) const {
    if (++p.index == blocks_[p.block].size()) p = {p.block + 1, 0};
  }
  Place after(Place p) const {
    next(p);
    return p;
  }
  Place ending_from(Time t) const {
    if (blocks_.empty() || back().last < t) return {blocks_.size(), 0};
    const auto block = std::lower_bound(blocks_.begin(), blocks_.end(), t,
                                        [](const Block& b, Time x) { return b.back().last < x; });
    const auto item = std::lower_bound(block->begin(), block->end(), t,
                                       [](const Interval& a, Time x) { return a.last < x; });
    return {static_cast<std::size_t>(block - blocks_.begin()),
            static_cast<std::size_t>(item - block->begin())};
  }
  void insert(Place p, const Interval& one) {
    if (blocks_.empty()) return blocks_.push_back(Block{one});
    if (!there(p)) p = {blocks_.size() - 1, blocks_.back().size()};
    Block& b = blocks_[p.block];
    b.insert(b.begin() + static_cast<std::ptrdiff_t>(p.index), one);
    if (b.size() <= kMost) return;
    // Appended to again and again, a block stays full.
    const std::size_t cut = p.index + 1 == b.size() ? b.size() - 1 : b.size() / 2;
    try {
      Block upper(b.begin() + static_cast<std::ptrdiff_t>(cut), b.end());
      blocks_.insert(blocks_.begin() + static_cast<std::ptrdiff_t>(p.block) + 1, std::move(upper));
      blocks_[p.block].resize(cut);
    } catch (const std::bad_alloc&) {  // a smaller block is only a saving
    }
  }
  void erase(Place p, std::size_t n) {
    while (n > 0) {
      Block& b = blocks_[p.block];
      const std::size_t here = std::min(n, b.size() - p.index);
      const auto from = b.begin() + static_cast<std::ptrdiff_t>(p.index);
      b.erase(from, from + static_cast<std::ptrdiff_t>(here));
      n -= here;
      if (b.empty()) blocks_.erase(blocks_.begin() + static_cast<std::ptrdiff_t>(p.block));
      else if (p.index == b.size()) p = {p.block + 1, 0};
    }
  }
  std::vector<Block> blocks_;  // none of them empty
};

}  // namespace sash::slicing
