// FlatFat against recomputation.
#pragma once

#include <vector>

#include "sash/flat_fat.hpp"
#include "trial.hpp"

namespace sash::trials {

template <class M>
class FlatFatTrial : public Trial<M> {
  using Base = Trial<M>;
  using Base::m_, Base::dice_, Base::tally_;
  using typename Base::Value;

 public:
  FlatFatTrial(Dice& dice, std::string name)
      : Base(dice, std::move(name)),
        fat_(m_, 1 + dice.below(70)),
        model_(fat_.capacity()),
        written_(fat_.capacity()) {}

  // Some places are written, then all is brought up to date.
  void random() {
    for (auto n = 1 + dice_.below(6); n > 0; --n) {
      const std::size_t first = dice_.below(model_.size());
      const std::size_t last = std::min(model_.size() - 1, first + dice_.below(4));
      for (std::size_t place = first; place <= last; ++place) write(place);
    }
    this->attempt([&] { fat_.refresh(changed_); }, [&] { compare(before_); });
    before_ = model_;
    had_ = written_;
    compare(model_);
    ++tally_.comparisons;
    if (dice_.one_in(8)) verify();
  }
  void verify() { fat_.check_invariants(); }

 private:
  void write(std::size_t place) {
    const Value v = this->value();
    m_.lift(fat_.leaf(place), {v});
    m_.to_state(fat_.leaf(place), fat_.leaf(place));
    model_[place] = v;
    written_[place] = true;
    changed_.add(place);
    ++tally_.operations;
  }
  void compare(const std::vector<Value>& values) {
    const std::vector<bool>& there = &values == &model_ ? written_ : had_;
    const std::size_t n = values.size(), at = dice_.below(n);
    Held<M> got(m_);
    fat_.aggregate(got.get());
    if (!values.empty()) equal(got.get(), values, there, 0, n, "aggregate");
    if (&values != &model_) return;  // leaves are new, nodes are not: only the root can be asked
    fat_.prefix(at, got.get());
    equal(got.get(), values, there, 0, at + 1, "prefix");
    fat_.suffix(at, got.get());
    equal(got.get(), values, there, at, n, "suffix");
  }
  void equal(const typename M::Cell* got, const std::vector<Value>& values,
             const std::vector<bool>& there, std::size_t from, std::size_t to, const char* what) {
    Held<M> want(m_), one(m_);
    for (std::size_t i = from; i < to; ++i) {
      if (!there[i]) continue;
      m_.lift(one.get(), {values[i]});
      m_.append(want.get(), one.get());
    }
    this->expect(m_.same_state(got, want.get()), what);
  }

  FlatFat<M> fat_;
  std::vector<Value> model_, before_{model_};  // now, and when the tree was last up to date
  std::vector<bool> written_, had_{written_};
  Places changed_;
};

}  // namespace sash::trials
