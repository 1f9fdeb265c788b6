// Every in-order structure when memory runs out, at every allocation of every operation: nothing has
// changed, the invariants hold, and the operation passes when there is memory again.
// Usage: alloc_test [seed]
#pragma GCC optimize("O0")  // compiling it takes longer than running it
#include <deque>
#include <random>

#include "failing_memory.hpp"
#include "sash/amta.hpp"
#include "sash/coarse.hpp"
#include "sash/daba.hpp"
#include "sash/daba_lite.hpp"
#include "sash/flat_fit.hpp"
#include "sash/reactive_aggregator.hpp"
#include "sash/recalc.hpp"
#include "sash/subtract_on_evict.hpp"
#include "sash/timed.hpp"
#include "sash/two_stacks.hpp"
#include "sash/two_stacks_lite.hpp"

using namespace failing;
using namespace sash;

namespace {

template <class S, class M>
class Trial {
 public:
  using Cell = typename M::Cell;
  Trial(const char* name, unsigned seed) : name_(name), window_(make()), rng_(seed) {}

  void run(int rounds) {
    for (int i = 0; i < rounds; ++i) {
      const unsigned kind = rng_() % 16;
      if (kind < 8 || model_.empty()) insert();
      else if (kind < 12) evict();
      else if (kind == 12) evict_many();
      else if (kind == 13) evict_ticket();
      else if (kind == 14) query();
      else copy();
    }
    while (!model_.empty()) evict();
    for (int i = 0; i < 40; ++i) insert();
    window_->clear();
    model_.clear();
    verify();
  }

 private:
  std::unique_ptr<S> make() { return std::make_unique<S>(m_); }
  void insert() {
    const auto v = static_cast<std::int64_t>(rng_() % 1000);
    step([&] { window_->insert(M::in(v)); });
    model_.push_back(v);
    if constexpr (requires { window_->next_ticket(); })
      tickets_.push_back(window_->next_ticket() - 1);
    verify();
  }
  void evict() {
    step([&] { window_->evict(); });
    forget(0);
    verify();
  }
  void evict_many() {
    // With functions that throw it is a loop of single evictions; the binding runs it on a copy.
    if constexpr (M::nothrow && requires { window_->evict_many(1); }) {
      const std::size_t k = rng_() % (model_.size() + 1);
      step([&] { window_->evict_many(k); });
      for (std::size_t i = 0; i < k; ++i) forget(0);
      verify();
    }
  }
  void evict_ticket() {
    if constexpr (requires { window_->next_ticket(); }) {
      const std::size_t i = rng_() % model_.size();
      step([&] { expect(window_->evict(tickets_[i]), "evict(ticket)"); });
      forget(i);
      verify();
    }
  }
  void query() {
    Held<M> got(m_);
    step([&] { window_->query(got.get()); });
    verify();
  }
  // A copy through an archive, as snapshots and column calls make them.
  void copy() {
    std::unique_ptr<S> fresh;
    step([&] {
      Saved<Cell> saved;
      Archive<Cell, false> out(saved);
      window_->archive(out);
      auto made = make();
      Archive<Cell, true> in(saved);
      try {
        made->archive(in);
      } catch (...) {
        made->clear();  // as the binding does
        throw;
      }
      fresh = std::move(made);
    });
    window_ = std::move(fresh);
    verify();
  }
  void forget(std::size_t i) {
    model_.erase(model_.begin() + static_cast<std::ptrdiff_t>(i));
    if (!tickets_.empty()) tickets_.erase(tickets_.begin() + static_cast<std::ptrdiff_t>(i));
  }

  template <class F>
  void step(F&& change) {
    every_way(change, [&] { verify(); });
  }
  void verify() {
    expect(window_->size() == model_.size(), "size");
    window_->check_invariants();
    Held<M> got(m_), want(m_), one(m_);
    window_->query(got.get());
    for (const std::int64_t& v : model_) {
      m_.lift(one.get(), M::in(v));
      m_.append(want.get(), one.get());
    }
    expect(m_.same_state(got.get(), want.get()), "the aggregate");
    m_.set_identity(one.get());
  }
  void expect(bool holds, const char* what) {
    if (!holds) fail(what, name_ + ", " + std::to_string(model_.size()) + " entries");
  }

  std::string name_;
  M m_;
  std::unique_ptr<S> window_;
  std::deque<std::int64_t> model_;
  std::vector<std::uint64_t> tickets_;
  std::mt19937 rng_;
};

template <class S, class M>
void trial(const char* name, unsigned seed, int rounds) {
  const long before = blocks;
  Trial<S, M>(name, seed).run(rounds);
  if (blocks != before) fail("memory leaked", name);
}

// Times beside the entries: the same, and bulk evictions, which go on where they were left.
template <class S, class M>
void timed(unsigned seed) {
  const long before = blocks;
  {
    Timed<S> window{M{}};
    std::deque<std::pair<std::int64_t, std::int64_t>> model;
    std::mt19937 rng(seed);
    const M m;
    const auto verify = [&] {
      window.check_invariants();
      if (window.size() != model.size()) fail("size", "timed");
      if (!model.empty() && window.oldest() != model.front().first) fail("oldest", "timed");
      Held<M> got(m), want(m), one(m);
      window.window().query(got.get());
      for (const auto& [t, v] : model) {
        m.lift(one.get(), M::in(v));
        m.append(want.get(), one.get());
      }
      if (!m.same_state(got.get(), want.get())) fail("the aggregate", "timed");
      m.set_identity(one.get());
    };
    for (std::int64_t t = 0; t < 150; ++t) {
      const auto v = static_cast<std::int64_t>(rng() % 1000);
      every_way([&] { window.insert(t / 2, M::in(v)); }, verify);
      model.emplace_back(t / 2, v);
      if (rng() % 4 == 0) {
        every_way([&] { window.evict(); }, verify);
        model.pop_front();
      }
      verify();
    }
  }
  if (blocks != before) fail("memory leaked", "timed");
}

template <class M>
void all(const char* monoid, unsigned seed, int rounds) {
  const auto name = [&](const char* s) { return std::string(s) + " of " + monoid; };
  trial<Recalc<M>, M>(name("Recalc").c_str(), seed, rounds);
  trial<TwoStacks<M>, M>(name("TwoStacks").c_str(), seed, rounds);
  trial<TwoStacksLite<M>, M>(name("TwoStacksLite").c_str(), seed, rounds);
  trial<Daba<M>, M>(name("Daba").c_str(), seed, rounds);
  trial<DabaLite<M>, M>(name("DabaLite").c_str(), seed, rounds);
  trial<FlatFit<M>, M>(name("FlatFit").c_str(), seed, rounds);
  trial<Amta<M>, M>(name("Amta").c_str(), seed, rounds);
  trial<ReactiveAggregator<M>, M>(name("ReactiveAggregator").c_str(), seed, rounds);
}

struct Sum : Scalar<SumI64> {
  static In in(const std::int64_t& v) { return {v, true}; }
};

}  // namespace

int main(int argc, char** argv) {
  const auto seed = static_cast<unsigned>(argc > 1 ? std::atoi(argv[1]) : 1);
  try {
    find_ops("count");
    all<Affine>("maps", seed, 300);
    all<failing::Small>("records", seed, 300);
    all<Big>("big states", seed, 200);
    all<Shared>("objects", seed, 200);
    trial<SubtractOnEvict<Sum>, Sum>("SubtractOnEvict", seed, 300);
    trial<Coarse<TwoStacksLite, Big>, Big>("Coarse TwoStacksLite", seed, 300);
    trial<Coarse<DabaLite, Big>, Big>("Coarse DabaLite", seed, 300);
    timed<DabaLite<Shared>, Shared>(seed);
    timed<TwoStacks<failing::Small>, failing::Small>(seed);
  } catch (const std::exception& e) {
    fail(e.what(), "thrown");
  }
  std::printf("ok: %ld operations, after %ld failures\n", operations, failures);
}
