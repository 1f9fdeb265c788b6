// Intervals: the sessions of one key for one gap, in order of time.
//
// Sessions only ever grow and join: a row inside one changes nothing here, a row within the gap of
// one end moves that end, a row that bridges two makes them one, any other is a session by itself
// (figure 4 of the Scotty paper: cases 1.1, 1.2 and 1.3, 2, 3).
#pragma once

#include <vector>

#include "sash/slicing/scratch.hpp"
#include "sash/slicing/windows.hpp"

namespace sash::slicing {

struct Interval {
  Time first, last;
};

class Intervals {
 public:
  std::size_t size() const { return all_.size(); }
  const Interval& operator[](std::size_t i) const { return all_[i]; }
  bool empty() const { return all_.empty(); }

  // The first session that ends at or after t.
  std::size_t ending_at_or_after(Time t) const {
    if (all_.empty() || all_.back().last < t) return all_.size();
    const auto at = std::lower_bound(all_.begin(), all_.end(), t,
                                     [](const Interval& a, Time x) { return a.last < x; });
    return static_cast<std::size_t>(at - all_.begin());
  }
  // Rows from first to last, no two of them further than the gap apart. absorbed(old) is called for
  // each session that becomes part of another. Returns the session they are in now.
  template <class F>
  Interval add(Time first, Time last, Time gap, F&& absorbed) {
    const std::size_t i = ending_at_or_after(first - gap);
    std::size_t j = i;
    Interval now{first, last};
    for (; j < all_.size() && all_[j].first <= last + gap; ++j) {
      now.first = std::min(now.first, all_[j].first);
      now.last = std::max(now.last, all_[j].last);
    }
    for (std::size_t k = i; k < j; ++k)
      if (all_[k].first != now.first || all_[k].last != now.last) absorbed(all_[k]);
    const auto at = all_.begin() + static_cast<std::ptrdiff_t>(i);
    if (i == j) {
      all_.insert(at, now);
    } else {
      *at = now;
      all_.erase(at + 1, at + static_cast<std::ptrdiff_t>(j - i));
    }
    return now;
  }
  // The session that t is in; false: none.
  bool around(Time t, Interval& found) const {
    const std::size_t i = ending_at_or_after(t);
    if (i == all_.size() || all_[i].first > t) return false;
    found = all_[i];
    return true;
  }
  // Sessions whose last row is before t go.
  void drop_before(Time t) {
    const auto n = static_cast<std::ptrdiff_t>(ending_at_or_after(t));
    all_.erase(all_.begin(), all_.begin() + n);
    give_back(all_);
  }

 private:
  std::vector<Interval> all_;
};

}  // namespace sash::slicing
