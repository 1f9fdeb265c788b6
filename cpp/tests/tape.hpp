// An archive in memory (cpp/bindings/archive.hpp is the one that becomes bytes): what a structure
// or an operator saves, and reads back.
#pragma once

#include <deque>
#include <vector>

#include "monoids.hpp"

namespace sash::trials {

template <Monoid M>
struct Tape {
  explicit Tape(const M& monoid) : m(monoid) {}
  M m;
  std::vector<std::uint64_t> numbers;
  std::vector<std::int64_t> times;
  std::deque<Held<M>> cells;
  std::vector<std::vector<Word>> outcomes;
};

// A structure may save with a monoid of its own (StatesOf), whose cells are the same.
template <Monoid M>
class Recorder {
 public:
  static constexpr bool loading = false;
  explicit Recorder(Tape<M>& tape) : tape_(tape) {}
  template <class Any>
  void count(std::size_t n, const Any&) {
    number(n);
  }
  void number(std::uint64_t n) { tape_.numbers.push_back(n); }
  void time(std::int64_t t) { tape_.times.push_back(t); }
  void require(bool, const char*) {}
  template <class Any>
  void state(const Any& m, const typename M::Cell* s) {
    m.copy_state(tape_.cells.emplace_back(tape_.m).get(), s);
  }
  template <class Any>
  void entry(const Any& m, const typename M::Cell* e) {
    m.copy_entry(tape_.cells.emplace_back(tape_.m).get(), e);
  }
  template <class Outcomes>
  void outcome(const M&, const Outcomes& all, std::size_t i) {
    tape_.outcomes.emplace_back(all.row(i), all.row(i) + all.stride());
  }

 private:
  Tape<M>& tape_;
};

template <Monoid M>
class Player {
 public:
  static constexpr bool loading = true;
  explicit Player(const Tape<M>& tape) : tape_(tape) {}
  template <class N, class Any>
  void count(N& n, const Any&) {
    number(n);
  }
  template <class N>
  void number(N& n) {
    n = static_cast<N>(tape_.numbers.at(number_++));
  }
  void time(std::int64_t& t) { t = tape_.times.at(time_++); }
  void require(bool holds, const char* what) {
    if (!holds) fail(what, "what was saved is refused");
  }
  template <class Any>
  void state(const Any& m, typename M::Cell* s) {
    m.copy_state(s, tape_.cells.at(cell_++).get());
  }
  template <class Any>
  void entry(const Any& m, typename M::Cell* e) {
    m.copy_entry(e, tape_.cells.at(cell_++).get());
  }
  template <class Outcomes>
  void add_outcome(const M& m, Outcomes& all) {
    Held<M> any(m);
    all.push(any.get());
    const std::vector<Word>& row = tape_.outcomes.at(outcome_++);
    std::copy(row.begin(), row.end(), all.row(all.size() - 1));
  }
  bool done() const {
    return number_ == tape_.numbers.size() && time_ == tape_.times.size() &&
           cell_ == tape_.cells.size() && outcome_ == tape_.outcomes.size();
  }

 private:
  const Tape<M>& tape_;
  std::size_t number_ = 0, time_ = 0, cell_ = 0, outcome_ = 0;
};

}  // namespace sash::trials
