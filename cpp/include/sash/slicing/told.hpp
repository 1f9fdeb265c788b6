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
  // Several at once, each with its row; of two of one window the later counts.
  void set(std::vector<std::pair<Saying, std::size_t>>& many, const Outcomes<M>& from) {
    if (many.size() < kMany || sayings.empty()) {
      for (const auto& [said, row] : many) set(said, from, row);
      return;
    }
    const auto key = [](const Saying& s) { return std::tuple(s.due, s.window, s.start); };
    std::stable_sort(many.begin(), many.end(),
                     [&](const auto& a, const auto& b) { return key(a.first) < key(b.first); });
    std::vector<Saying> merged;
    merged.reserve(sayings.size() + many.size());
    Outcomes<M> rows(outcomes.like());
    std::size_t i = 0;
    for (std::size_t j = 0; j < many.size(); ++j) {
      const Saying& said = many[j].first;
      if (j + 1 < many.size() && key(many[j + 1].first) == key(said)) continue;
      for (; i < sayings.size() && key(sayings[i]) < key(said); ++i) {
        merged.push_back(sayings[i]);
        rows.push_copy(outcomes, i);
      }
      if (i < sayings.size() && key(sayings[i]) == key(said)) ++i;
      merged.push_back(said);
      rows.push_copy(from, many[j].second);
    }
    for (; i < sayings.size(); ++i) {
      merged.push_back(sayings[i]);
      rows.push_copy(outcomes, i);
    }
    sayings = std::move(merged);
    outcomes = std::move(rows);
  }
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
    give_back(sayings);
    outcomes.drop_front(n);
  }
  void drop_window(std::int32_t id) {
    Outcomes<M> kept(outcomes.like());
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
  static constexpr std::size_t kMany = 32;
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
