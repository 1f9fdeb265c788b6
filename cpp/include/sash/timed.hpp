// Timed<S>: an in-order structure with the time of each entry beside it, for windows by time.
//
// Times must not go back (equal ones are fine, each its own entry); one that does is refused before
// anything changes. Costs are those of S.
#pragma once

#include <stdexcept>
#include <string>

#include "sash/chunked_deque.hpp"

namespace sash {

struct TimeWentBack : std::invalid_argument {
  using std::invalid_argument::invalid_argument;
};

template <class S>
class Timed {
 public:
  template <class M>
  explicit Timed(M m) : window_(std::move(m)), times_(1) {}

  S& window() { return window_; }
  const S& window() const { return window_; }
  std::size_t size() const { return window_.size(); }
  std::size_t bytes() const { return window_.bytes() + times_.bytes(); }
  std::int64_t oldest() const { return *times_.at(times_.front()); }
  std::int64_t youngest() const { return *times_.at(times_.before(times_.end())); }

  template <class In>
  void insert(std::int64_t t, const In& in) {
    if (!times_.empty() && t < youngest())
      throw TimeWentBack("time " + std::to_string(t) + " is before the youngest entry's " +
                         std::to_string(youngest()) +
                         ": this structure takes times in order; FingerTree takes any order");
    times_.reserve_one();
    *times_.at(times_.end()) = t;
    window_.insert(in);
    times_.push_back();
  }
  void evict() {
    window_.evict();
    times_.pop_front();
  }
  // Everything up to and including t; returns how many.
  std::size_t bulk_evict(std::int64_t t) {
    std::size_t n = 0;
    for (; !times_.empty() && oldest() <= t; ++n) evict();
    return n;
  }
  void clear() {
    window_.clear();
    times_.clear();
  }
  void check_invariants() {
    window_.check_invariants();
    times_.check_invariants();
    if (times_.size() != window_.size()) throw std::logic_error("Timed: times and entries differ");
  }

  template <class F>
  void for_each_time(F&& f) const {
    for (auto p = times_.front(); !(p == times_.end()); times_.step(p)) f(*times_.at(p));
  }

  template <class Archive>
  void archive(Archive& a) {
    window_.archive(a);
    if constexpr (Archive::loading) {
      for (std::size_t i = 0, n = window_.size(); i < n; ++i) {
        std::int64_t t = 0;
        a.time(t);
        a.require(i == 0 || t >= youngest(), "times go back");
        times_.reserve_one();
        *times_.at(times_.end()) = t;
        times_.push_back();
      }
    } else {
      for_each_time([&](std::int64_t t) { a.time(t); });
    }
  }

 private:
  S window_;
  ChunkedDeque<std::int64_t, 1> times_;
};

}  // namespace sash
