// FingerTree and ClassicTree against recomputation: each operation, on any times.
#pragma once

#include <algorithm>
#include <map>
#include <vector>

#include "sash/finger_tree.hpp"
#include "trial.hpp"

namespace sash::trials {

template <class M, bool Fingers>
class TreeTrial : public Trial<M> {
  using Base = Trial<M>;
  using Base::m_, Base::dice_, Base::own_, Base::tally_;
  using Cell = typename M::Cell;

 public:
  using typename Base::Value;
  TreeTrial(TreeShape shape, Dice& dice, std::string name)
      : Base(dice, std::move(name)), tree_(m_, shape) {}

  void insert(Time t) {
    const Value v = this->value();
    step([&] { tree_.insert(t, {v}); }, [&] { model_[t].push_back(v); });
  }
  void evict() {
    const bool had = !model_.empty();
    step([&] { this->expect(tree_.evict() == had, "evict()"); },
         [&] {
           if (had) model_.erase(model_.begin());
         });
  }
  void evict(Time t) {
    const bool had = model_.count(t) != 0;
    step([&] { this->expect(tree_.evict(t) == had, "evict(t)"); }, [&] { model_.erase(t); });
  }
  void bulk_evict(Time t) {
    const auto end = model_.upper_bound(t);
    const auto n = static_cast<std::size_t>(std::distance(model_.begin(), end));
    step([&] { this->expect(tree_.bulk_evict(t) == n, "bulk_evict"); },
         [&] { model_.erase(model_.begin(), end); });
  }
  void bulk_insert(std::vector<Time> times) {
    std::sort(times.begin(), times.end());
    std::vector<Value> values(times.size());
    for (Value& v : values) v = this->value();
    step(
        [&] {
          tree_.bulk_insert(times.data(), times.size(),
                            [&](std::size_t i, auto* e) { m_.lift(e, {values[i]}); });
        },
        [&] {
          for (std::size_t i = 0; i < times.size(); ++i) model_[times[i]].push_back(values[i]);
        });
  }
  void clear() {
    tree_.clear();
    model_.clear();
  }
  void move() {
    Tree<M, Fingers> other(std::move(tree_));
    Tree<M, Fingers> third(m_, {4, 4});
    third = std::move(other);
    tree_ = std::move(third);
  }
  // The same entries in a new tree.
  void copy() {
    std::vector<Time> times;
    std::vector<const Cell*> entries;
    tree_.for_each([&](Time t, const Cell* e) { times.push_back(t), entries.push_back(e); });
    Tree<M, Fingers> fresh(m_, tree_.shape());
    fresh.bulk_insert(times.data(), times.size(),
                      [&](std::size_t i, Cell* to) { m_.copy_entry(to, entries[i]); });
    tree_ = std::move(fresh);
  }

  // One operation on times in [low, high].
  void random(Time low, Time high) {
    const auto any = [&] { return dice_.between(low, high); };
    const auto kind = dice_.below(100);
    if (kind < 35) insert(any());
    else if (kind < 50) insert(after_youngest(low));
    else if (kind < 60) evict();
    else if (kind < 72) evict(near(any()));
    else if (kind < 78) bulk_evict(any() - (high - low) / 2);
    else if (kind < 80) bulk_evict(near(low));
    else if (kind < 98) {
      Dice bulk = dice_.burst();
      std::vector<Time> times(bulk.below(bulk.one_in(3) ? 200 : 8));
      const Time start = any(), width = bulk.between(1, 300);
      for (Time& t : times) t = start + bulk.between(0, width);
      bulk_insert(times);
    } else if (kind == 98) {
      insert(dice_.one_in(2) ? kLowest : kHighest);
    } else if (dice_.one_in(4)) clear();
    else if (dice_.one_in(2)) move();
    else copy();
  }

  void verify() {
    ++tally_.comparisons;
    tree_.check_invariants();
    this->expect(tree_.size() == model_.size(), "size()");
    this->expect(tree_.empty() == model_.empty(), "empty()");
    if (!model_.empty()) {
      this->expect(tree_.oldest() == model_.begin()->first, "oldest()");
      this->expect(tree_.youngest() == model_.rbegin()->first, "youngest()");
    }
    Held<M> got(m_), want(m_);
    auto i = model_.begin();
    tree_.for_each([&](Time t, const Cell* e) {
      this->expect(i != model_.end() && i->first == t, "times in for_each");
      entry(i->second, want.get());
      m_.to_state(want.get(), want.get());
      m_.to_state(got.get(), e);
      this->expect(m_.same_state(got.get(), want.get()), "entries in for_each");
      ++i;
    });
    this->expect(i == model_.end(), "end of for_each");
    tree_.query(got.get());
    total(kLowest, kHighest, want.get());
    this->expect(m_.same_state(got.get(), want.get()), "query()");
    for (int n = 0; n < 3; ++n) verify_range(got.get(), want.get());
  }
  std::size_t size() const { return tree_.size(); }
  unsigned every = 1;  // verify after this many operations

 private:
  template <class Change, class Follow>
  void step(Change&& change, Follow&& follow) {
    this->attempt(change, [&] { verify(); });
    follow();
    if (++tally_.operations % every == 0) verify();
  }
  Time near(Time t) const {
    const auto i = model_.lower_bound(t);
    return i == model_.end() ? t : i->first;
  }
  Time after_youngest(Time otherwise) const {
    if (model_.empty() || model_.rbegin()->first == kHighest) return otherwise;
    return model_.rbegin()->first + 1;
  }
  void verify_range(Cell* got, Cell* want) {
    Time from = kLowest, to = kHighest;
    if (!model_.empty()) {
      const auto a = static_cast<Word>(model_.begin()->first) - 2;
      const Word span = static_cast<Word>(model_.rbegin()->first) - a + 4;
      if (span > 4 && !own_.one_in(4)) from = static_cast<Time>(a + own_.below(span));
      if (span > 4 && !own_.one_in(4)) to = static_cast<Time>(a + own_.below(span));
    }
    tree_.query(from, to, got);
    total(from, to, want);
    this->expect(m_.same_state(got, want), "query(from, to)");
    Time found = 0;
    const auto next = model_.lower_bound(from);
    const bool there = tree_.at_or_after(from, found) != nullptr;
    this->expect(there == (next != model_.end()), "at_or_after");
    this->expect(!there || found == next->first, "the time of at_or_after");
  }
  void entry(const std::vector<Value>& values, Cell* out) {
    Held<M> one(m_);
    m_.lift(out, {values[0]});
    for (std::size_t i = 1; i < values.size(); ++i) {
      m_.lift(one.get(), {values[i]});
      m_.merge_entry(out, one.get());
    }
  }
  void total(Time from, Time to, Cell* out) {
    Held<M> e(m_);
    m_.set_identity(out);
    if (from > to) return;
    bool some = false;
    for (auto i = model_.lower_bound(from); i != model_.end() && i->first <= to; ++i) {
      entry(i->second, e.get());
      if (some) m_.append(out, e.get());
      else m_.to_state(out, e.get());
      some = true;
    }
  }

  Tree<M, Fingers> tree_;
  std::map<Time, std::vector<Value>> model_;
};

}  // namespace sash::trials
