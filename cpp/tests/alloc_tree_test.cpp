// FingerTree and ClassicTree when memory runs out, at every allocation of every operation: nothing
// has changed, the invariants hold, and the operation passes when there is memory again.
// Usage: alloc_tree_test [seed]
#pragma GCC optimize("O0")  // compiling it takes longer than running it
#include <map>
#include <random>

#include "failing_memory.hpp"
#include "sash/finger_tree.hpp"

using namespace failing;
using namespace sash;

namespace {

template <class M, bool Fingers>
class Trial {
 public:
  using Cell = typename M::Cell;
  Trial(TreeShape shape, unsigned seed, const char* name)
      : name_(name), tree_(m_, shape), rng_(seed) {}

  void run(int rounds) {
    for (int i = 0; i < rounds; ++i) {
      const unsigned kind = rng_() % 20;
      if (kind < 5) insert(now_++);
      else if (kind < 9) insert(any());
      else if (kind < 11) evict();
      else if (kind < 13) evict(near(any()));
      else if (kind < 14) bulk_evict(near(model_.empty() ? 0 : model_.begin()->first + 9));
      else if (kind < 15) query();
      else if (kind < 18) bulk_insert(rng_() % 12, 40);
      else if (kind < 19) bulk_insert(rng_() % 150, 500);
      else copy();
    }
    bulk_evict(now_ / 2);
    bulk_insert(200, 60);
    while (model_.size() > 40) evict();
    bulk_evict(now_ + 1000);
    insert(3);
    tree_.clear();
    model_.clear();
    verify();
  }

 private:
  using Model = std::map<Time, std::vector<std::int64_t>>;
  Time any() { return static_cast<Time>(rng_() % static_cast<unsigned>(now_ + 20)); }
  Time near(Time t) const {
    const auto i = model_.lower_bound(t);
    return i == model_.end() ? t : i->first;
  }
  std::int64_t value() { return static_cast<std::int64_t>(rng_() % 1000); }

  void insert(Time t) {
    const std::int64_t v = value();
    step([&] { tree_.insert(t, M::in(v)); }, [&] { model_[t].push_back(v); });
  }
  void evict() {
    step([&] { tree_.evict(); },
         [&] {
           if (!model_.empty()) model_.erase(model_.begin());
         });
  }
  void evict(Time t) {
    step([&] { tree_.evict(t); }, [&] { model_.erase(t); });
  }
  void bulk_evict(Time t) {
    step([&] { tree_.bulk_evict(t); },
         [&] { model_.erase(model_.begin(), model_.upper_bound(t)); });
  }
  void bulk_insert(std::size_t n, unsigned width) {
    std::vector<Time> times(n);
    const Time start = rng_() % 3 == 0 ? now_ : any();
    for (Time& t : times) t = start + static_cast<Time>(rng_() % width);
    std::sort(times.begin(), times.end());
    std::vector<std::int64_t> values(n);
    for (std::int64_t& v : values) v = value();
    step(
        [&] {
          tree_.bulk_insert(times.data(), n,
                            [&](std::size_t i, Cell* e) { m_.lift(e, M::in(values[i])); });
        },
        [&] {
          for (std::size_t i = 0; i < n; ++i) model_[times[i]].push_back(values[i]);
          if (n != 0) now_ = std::max(now_, times.back() + 1);
        });
  }
  void query() {
    Held<M> got(m_);
    const Time from = any(), to = any();
    step([&] { tree_.query(from, to, got.get()); }, [] {});
  }
  // As a snapshot loads it, and a column call that may fail copies it.
  void copy() {
    Tree<M, Fingers> fresh(m_, tree_.shape());
    step(
        [&] {
          std::vector<Time> times;
          std::vector<const Cell*> entries;
          tree_.for_each([&](Time t, const Cell* e) {
            times.push_back(t);
            entries.push_back(e);
          });
          fresh.bulk_insert(times.data(), times.size(),
                            [&](std::size_t i, Cell* to) { m_.copy_entry(to, entries[i]); });
        },
        [] {});
    tree_ = std::move(fresh);
    verify();
  }

  template <class F, class G>
  void step(F&& change, G&& follow) {
    every_way(change, [&] { verify(); });
    follow();
    verify();
  }
  void verify() {
    tree_.check_invariants();
    expect(tree_.size() == model_.size(), "size");
    Held<M> got(m_), want(m_), one(m_), entry(m_);
    auto i = model_.begin();
    tree_.for_each([&](Time t, const Cell* e) {
      expect(i != model_.end() && i->first == t, "times");
      m_.set_identity(entry.get());
      for (const std::int64_t& v : i->second) {
        m_.lift(one.get(), M::in(v));
        m_.append(entry.get(), one.get());
        m_.append(want.get(), one.get());
      }
      m_.to_state(got.get(), e);
      expect(m_.same_state(got.get(), entry.get()), "an entry");
      ++i;
    });
    expect(i == model_.end(), "the end");
    tree_.query(got.get());
    expect(m_.same_state(got.get(), want.get()), "the aggregate");
    m_.set_identity(one.get());
  }
  void expect(bool holds, const char* what) {
    if (!holds) fail(what, name_ + ", " + std::to_string(model_.size()) + " entries");
  }

  std::string name_;
  M m_;
  Tree<M, Fingers> tree_;
  Model model_;
  std::mt19937 rng_;
  Time now_ = 0;
};

template <class M, bool Fingers>
void trials(const char* name, unsigned seed, int rounds) {
  const TreeShape shapes[] = {{4, 4}, {8, 5}, default_shape(M{})};
  for (const TreeShape& shape : shapes) {
    const long before = blocks;
    Trial<M, Fingers>(shape, seed, name).run(rounds);
    if (blocks != before) fail("memory leaked", name);
  }
}

}  // namespace

int main(int argc, char** argv) {
  const auto seed = static_cast<unsigned>(argc > 1 ? std::atoi(argv[1]) : 1);
  try {
    find_ops("count");
    trials<Affine, true>("maps", seed, 100);
    trials<failing::Small, true>("records", seed, 60);
    trials<Shared, true>("objects", seed, 30);
    trials<Affine, false>("maps, classic", seed, 40);
  } catch (const std::exception& e) {
    fail(e.what(), "thrown");
  }
  std::printf("ok: %ld operations, after %ld failures\n", operations, failures);
}
