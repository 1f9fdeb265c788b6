// Told: what was said of one key's windows that rows may still change, in order of when they are due.
#pragma once

#include <tuple>

#include "sash/slicing/outcomes.hpp"
#include "sash/slicing/windows.hpp"

namespace sash::slicing {

struct Saying {
  Time due, start;
  std::int32_t window;    // its id
  std::int32_t revision;  // of what was said last
  bool standing;          // false: it was withdrawn
};

template <Monoid M>
class Told {
 public:
  explicit Told(const M& m) : outcomes(m) {}
  std::vector<Saying> sayings;
  Outcomes<M> outcomes;  // one for each

  // What was said of a window, or null.
  const Saying* find(std::int32_t window, Time start, Time due) const {
    const std::size_t i = place(window, start, due);
    return matches(i, window, start, due) ? &sayings[i] : nullptr;
  }
  std::size_t index(const Saying* s) const { return static_cast<std::size_t>(s - sayings.data()); }
  void set(const Saying& said, const Outcomes<M>& from, std::size_t row) {
    const std::size_t i = place(said.window, said.start, said.due);
    if (matches(i, said.window, said.start, said.due)) {
      sayings[i] = said;
      outcomes.set_copy(i, from, row);
    } else {
      sayings.insert(sayings.begin() + static_cast<std::ptrdiff_t>(i), said);
      outcomes.insert_copy(i, from, row);
    }
  }
  // Windows due at or before the limit can no longer change.
  void drop(Time limit) {
    std::size_t n = 0;
    while (n < sayings.size() && sayings[n].due <= limit) ++n;
    // Not for every few: what is left has to move.
    if (n == 0 || (n < sayings.size() && n * 2 < sayings.size())) return;
    sayings.erase(sayings.begin(), sayings.begin() + static_cast<std::ptrdiff_t>(n));
    outcomes.drop_front(n);
  }
  void drop_window(std::int32_t id) {
    Outcomes<M> kept(outcomes);
    kept.clear();
    std::vector<Saying> left;
    for (std::size_t i = 0; i < sayings.size(); ++i) {
      if (sayings[i].window == id) continue;
      left.push_back(sayings[i]);
      kept.push_copy(outcomes, i);
    }
    sayings = std::move(left);
    outcomes = std::move(kept);
  }

 private:
  std::size_t place(std::int32_t window, Time start, Time due) const {
    const auto key = std::tuple(due, window, start);
    const auto at = std::lower_bound(
        sayings.begin(), sayings.end(), key,
        [](const Saying& s, const auto& k) { return std::tuple(s.due, s.window, s.start) < k; });
    return static_cast<std::size_t>(at - sayings.begin());
  }
  bool matches(std::size_t i, std::int32_t window, Time start, Time due) const {
    return i < sayings.size() && sayings[i].window == window && sayings[i].start == start &&
           sayings[i].due == due;
  }
};

}  // namespace sash::slicing
