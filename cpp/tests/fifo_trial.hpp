// The structures that entries enter at the back, against recomputation; alone and under Timed.
#pragma once

#include <algorithm>
#include <deque>
#include <memory>

#include "sash/timed.hpp"
#include "tape.hpp"
#include "trial.hpp"

namespace sash::trials {

template <class S>
inline constexpr bool is_timed = false;
template <class S>
inline constexpr bool is_timed<Timed<S>> = true;

template <class Structure, class M>
class FifoTrial : public Trial<M> {
  using Base = Trial<M>;
  using Base::m_, Base::dice_, Base::own_, Base::tally_;
  using Cell = typename M::Cell;
  using typename Base::Value;
  static constexpr bool kTimed = is_timed<Structure>;
  static constexpr bool kTickets = requires(Structure s) { s.next_ticket(); };

 public:
  FifoTrial(Dice& dice, std::string name)
      : Base(dice, std::move(name)),
        window_(std::make_unique<Structure>(m_)),
        every_(kPauses[dice.below(4)]) {}

  // One choice; a burst is many operations.
  void random() {
    const auto kind = dice_.below(32);
    if (kind < 11) insert();
    else if (kind < 19) evict();
    else if (kind < 22) many(dice_.below(40), [&] { insert(); });
    else if (kind < 25) evict_many(dice_.below(model_.size() + 1));
    else if (kind < 27) slide(dice_.below(60));
    else if (kind == 27) copy();
    else if (kind == 28) evict_inside();
    else if (kind == 29) go_back();
    else if (kind == 30) verify();
    else if (dice_.one_in(8)) clear();
    else if (dice_.one_in(16)) many(dice_.below(1 << 12), [&] { insert(); });
  }

  void verify() {
    ++tally_.comparisons;
    window_->check_invariants();
    compare();
    if constexpr (requires(Structure& s) { s.for_each([](const Cell*) {}); }) {
      std::size_t i = 0;
      Held<M> got(m_), want(m_);
      window_->for_each([&](const Cell* kept) {
        m_.lift(want.get(), {model_.at(i++).value});
        m_.to_state(want.get(), want.get());
        if (Structure::kept == Holds::entry) m_.to_state(got.get(), kept);
        else m_.copy_state(got.get(), kept);
        this->expect(m_.same_state(got.get(), want.get()), "an entry of for_each");
      });
      this->expect(i == model_.size(), "the number of entries in for_each");
    }
    if constexpr (kTimed) {
      std::size_t i = 0;
      window_->for_each_time([&](Time t) { this->expect(model_.at(i++).name == t, "a time"); });
    }
  }

 private:
  using Time = std::int64_t;
  struct Row {
    Time name;  // its time, or its ticket
    Value value;
  };
  static constexpr unsigned kPauses[] = {1, 1, 3, 50};

  template <class F>
  static void many(std::uint64_t n, F&& f) {
    while (n-- > 0) f();
  }
  void insert() {
    const Value v = this->value();
    Time name = 0;
    if constexpr (kTimed) {
      now_ += own_.between(0, 2);
      name = now_;
      step([&] { window_->insert(name, typename M::In{v}); });
    } else {
      if constexpr (kTickets) name = static_cast<Time>(window_->next_ticket());
      step([&] { window_->insert({v}); });
    }
    model_.push_back({name, v});
    done();
  }
  void evict() {
    if (model_.empty()) return;
    step([&] { window_->evict(); });
    model_.pop_front();
    done();
  }
  void evict_many(std::size_t n) {
    if constexpr (kTimed) {
      const Time to = n == 0 ? now_ - 100 : model_[n - 1].name;
      const auto last =
          std::find_if(model_.begin(), model_.end(), [&](const Row& row) { return row.name > to; });
      const auto gone = static_cast<std::size_t>(last - model_.begin());
      if constexpr (M::nothrow) {  // it evicts one by one, and is not all or nothing
        this->expect(window_->bulk_evict(to) == gone, "bulk_evict");
        model_.erase(model_.begin(), last);
        done();
        return;
      }
    } else if constexpr (requires { window_->evict_many(n); }) {
      if constexpr (M::nothrow) {
        window_->evict_many(n);
        model_.erase(model_.begin(), model_.begin() + static_cast<std::ptrdiff_t>(n));
        done();
        return;
      }
    }
    many(n, [&] { evict(); });
  }
  void slide(std::uint64_t n) {
    many(n, [&] { insert(), evict(); });
  }
  void clear() {
    window_->clear();
    model_.clear();
    done();
  }
  void copy() {
    auto fresh = std::make_unique<Structure>(m_);
    Tape<M> tape(m_);
    Recorder<M> saving(tape);
    window_->archive(saving);
    Player<M> loading(tape);
    fresh->archive(loading);
    this->expect(loading.done(), "a copy leaves something unread");
    if constexpr (requires { window_->copy_to(*fresh); }) {
      if (dice_.one_in(2)) {
        fresh = std::make_unique<Structure>(m_);
        window_->copy_to(*fresh);
      }
    }
    window_ = std::move(fresh);
    done();
  }
  // Any entry of those that have tickets.
  void evict_inside() {
    if constexpr (kTickets) {
      if (model_.empty()) return;
      const std::size_t at = dice_.below(model_.size());
      const auto ticket = static_cast<std::uint64_t>(model_[at].name);
      step([&] { this->expect(window_->evict(ticket), "evict(ticket)"); });
      model_.erase(model_.begin() + static_cast<std::ptrdiff_t>(at));
      this->expect(!window_->evict(ticket), "a ticket that has gone");
      done();
    }
  }
  void go_back() {
    if constexpr (kTimed) {
      if (model_.empty()) return;
      bool refused = false;
      try {
        window_->insert(model_.back().name - 1, typename M::In{this->value()});
      } catch (const TimeWentBack&) {
        refused = true;
      }
      this->expect(refused, "a time that goes back");
      done();
    }
  }

  auto& inner() {
    if constexpr (kTimed) return window_->window();
    else return *window_;
  }
  template <class Change>
  void step(Change&& change) {
    this->attempt(change, [&] { compare(); });
  }
  void done() {
    this->expect(window_->size() == model_.size(), "size()");
    const std::size_t pause = std::max<std::size_t>(every_, model_.size() / 16);
    if (++tally_.operations % pause != 0) return;
    ++tally_.comparisons;
    compare();
  }
  void compare() {
    Held<M> got(m_), want(m_), entry(m_);
    this->attempt([&] { inner().query(got.get()); }, [] {});
    for (const Row& row : model_) {
      m_.lift(entry.get(), {row.value});
      m_.append(want.get(), entry.get());
    }
    this->expect(m_.same_state(got.get(), want.get()), "query()");
  }

  std::unique_ptr<Structure> window_;
  std::deque<Row> model_;
  unsigned every_;
  Time now_ = 0;
};

}  // namespace sash::trials
