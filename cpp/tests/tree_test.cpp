// FingerTree and ClassicTree against recomputation: every operation, in random and adversarial
// orders, with monoids that are non-commutative, that hold references, and that throw.
// Usage: tree_test [rounds] [seed]
#include <cstdio>
#include <cstdlib>
#include <map>
#include <random>
#include <string>

#include "sash/finger_tree.hpp"
#include "sash/scalars.hpp"

using namespace sash;

namespace {

constexpr Word kPrime = 1000000007;

struct Map {  // x -> a x + b
  Word a = 1, b = 0;
  static Map of(Word v) { return {v % 97 + 2, v % 1009}; }
  friend Map operator*(Map f, Map g) { return {f.a * g.a % kPrime, (f.a * g.b + f.b) % kPrime}; }
  bool operator==(const Map&) const = default;
};

struct Affine {
  using In = std::int64_t;
  using State = Map;
  static constexpr bool commutative = false, exact = true;
  State identity() const { return {}; }
  State lift(In v) const { return Map::of(static_cast<Word>(v)); }
  State combine(State a, State b) const { return a * b; }
};

// Entries of one word, states of six.
struct Wide {
  using Cell = Word;
  using In = Nullable<std::int64_t>;
  static constexpr bool nothrow = true, trivial = true;
  static constexpr std::size_t fixed_cells = 0;
  std::size_t state_cells() const { return 6; }
  std::size_t entry_cells() const { return 2; }
  bool commutative() const { return false; }
  bool exact() const { return true; }
  void start(Cell*, std::size_t) const {}
  void drop_entry(Cell*) const {}
  void drop_state(Cell*) const {}
  static Map get(const Cell* c) { return {c[0], c[1]}; }
  static void set(Cell* c, Map m) { c[0] = m.a, c[1] = m.b; }
  void set_state(Cell* c, Map m) const { set(c, m), c[2] = c[3] = c[4] = c[5] = m.a ^ m.b; }
  void lift(Cell* e, const In& in) const { set(e, Map::of(static_cast<Word>(in.value))); }
  void set_identity(Cell* s) const { set_state(s, {}); }
  void copy_state(Cell* d, const Cell* s) const { std::memcpy(d, s, 48); }
  void copy_entry(Cell* d, const Cell* s) const { std::memcpy(d, s, 16); }
  void to_state(Cell* d, const Cell* e) const { set_state(d, get(e)); }
  void append(Cell* s, const Cell* e) const { set_state(s, get(s) * get(e)); }
  void prepend(Cell* d, const Cell* e, const Cell* s) const { set_state(d, get(e) * get(s)); }
  void combine(Cell* d, const Cell* a, const Cell* b) const { set_state(d, get(a) * get(b)); }
  void merge_entry(Cell* e, const Cell* l) const { set(e, get(e) * get(l)); }
  bool same_state(const Cell* a, const Cell* b) const { return std::memcmp(a, b, 48) == 0; }
};

// References to counted objects; every operation may throw, when `fuse` has burnt down.
struct Object {
  Map map;
  long refs;
};
long objects = 0;
long fuse = -1;

template <bool Commutes>
struct Refs {
  using Cell = Object*;
  using In = Nullable<std::int64_t>;
  static constexpr bool nothrow = false, trivial = false;
  static constexpr std::size_t fixed_cells = 1;
  static std::size_t state_cells() { return 1; }
  static std::size_t entry_cells() { return 1; }
  bool commutative() const { return Commutes; }
  bool exact() const { return true; }
  void start(Cell* c, std::size_t n) const {
    for (std::size_t i = 0; i < n; ++i) c[i] = nullptr;
  }
  static void put(Cell* d, Map m) {
    if (fuse >= 0 && fuse-- == 0) throw std::runtime_error("burnt");
    Cell fresh = new Object{m, 1};
    ++objects;
    drop(d);
    *d = fresh;
  }
  static void drop(Cell* c) {
    if (*c != nullptr && --(*c)->refs == 0) {
      delete *c;
      --objects;
    }
    *c = nullptr;
  }
  static void share(Cell* d, Cell s) {
    ++s->refs;
    drop(d);
    *d = s;
  }
  static Map times(Map a, Map b) { return Commutes ? Map{1, (a.b + b.b) % kPrime} : a * b; }
  void drop_entry(Cell* c) const { drop(c); }
  void drop_state(Cell* c) const { drop(c); }
  void lift(Cell* e, const In& in) const {
    const Map m = Map::of(static_cast<Word>(in.value));
    put(e, Commutes ? Map{1, m.b} : m);
  }
  void set_identity(Cell* s) const {
    const long saved = std::exchange(fuse, -1);  // identities are at hand
    put(s, {});
    fuse = saved;
  }
  void copy_state(Cell* d, const Cell* s) const { share(d, *s); }
  void copy_entry(Cell* d, const Cell* s) const { share(d, *s); }
  void to_state(Cell* d, const Cell* e) const { share(d, *e); }
  void append(Cell* s, const Cell* e) const { put(s, times((*s)->map, (*e)->map)); }
  void prepend(Cell* d, const Cell* e, const Cell* s) const { put(d, times((*e)->map, (*s)->map)); }
  void combine(Cell* d, const Cell* a, const Cell* b) const { put(d, times((*a)->map, (*b)->map)); }
  void merge_entry(Cell* e, const Cell* l) const { put(e, times((*e)->map, (*l)->map)); }
  bool same_state(const Cell* a, const Cell* b) const { return (*a)->map == (*b)->map; }
};

[[noreturn]] void fail(const char* what, const std::string& where) {
  std::printf("FAILED: %s (%s)\n", what, where.c_str());
  std::exit(1);
}

long operations = 0, throws = 0;

template <class M, bool Fingers>
class Trial {
 public:
  using Value = decltype(typename M::In{}.value);
  Trial(TreeShape shape, unsigned seed, std::string name)
      : tree_(m_, shape), rng_(seed), name_(name + " seed " + std::to_string(seed)) {}

  void insert(Time t) {
    const Value v = static_cast<Value>(rng_() % 1000);
    step([&] { tree_.insert(t, {v}); }, [&] { model_[t].push_back(v); });
  }
  void evict() {
    const bool had = !model_.empty();
    step([&] { expect(tree_.evict() == had, "evict()"); },
         [&] {
           if (had) model_.erase(model_.begin());
         });
  }
  void evict(Time t) {
    const bool had = model_.count(t) != 0;
    step([&] { expect(tree_.evict(t) == had, "evict(t)"); }, [&] { model_.erase(t); });
  }
  void bulk_evict(Time t) {
    const auto end = model_.upper_bound(t);
    const auto n = static_cast<std::size_t>(std::distance(model_.begin(), end));
    step([&] { expect(tree_.bulk_evict(t) == n, "bulk_evict"); },
         [&] { model_.erase(model_.begin(), end); });
  }
  void bulk_insert(std::vector<Time> times) {
    std::sort(times.begin(), times.end());
    std::vector<Value> values(times.size());
    for (Value& v : values) v = static_cast<Value>(rng_() % 1000);
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

  // One random operation on times in [low, high].
  void random(Time low, Time high) {
    const auto any = [&] { return std::uniform_int_distribution<Time>(low, high)(rng_); };
    const unsigned kind = rng_() % 100;
    if (kind < 35) insert(any());
    else if (kind < 50) insert(model_.empty() ? any() : model_.rbegin()->first + 1);
    else if (kind < 60) evict();
    else if (kind < 72) evict(near(any()));
    else if (kind < 78) bulk_evict(any() - (high - low) / 2);
    else if (kind < 80) bulk_evict(model_.empty() ? 0 : near(model_.begin()->first + 5));
    else if (kind < 99) {
      std::vector<Time> times(rng_() % 3 == 0 ? rng_() % 200 : rng_() % 8);
      const Time start = any(), width = 1 + static_cast<Time>(rng_() % 300);
      for (Time& t : times) t = start + static_cast<Time>(rng_()) % width;
      bulk_insert(times);
    } else if (rng_() % 4 == 0) clear();
    else move();
  }
  Time near(Time t) const {
    const auto i = model_.lower_bound(t);
    return i == model_.end() ? t : i->first;
  }

  void verify() {
    tree_.check_invariants();
    expect(tree_.size() == model_.size(), "size()");
    expect(tree_.empty() == model_.empty(), "empty()");
    if (!model_.empty()) {
      expect(tree_.oldest() == model_.begin()->first, "oldest()");
      expect(tree_.youngest() == model_.rbegin()->first, "youngest()");
    }
    Held<M> got(m_), want(m_);
    auto i = model_.begin();
    tree_.for_each([&](Time t, const auto* e) {
      expect(i != model_.end() && i->first == t, "times in for_each");
      entry(i->second, want.get());
      m_.to_state(want.get(), want.get());
      m_.to_state(got.get(), e);
      expect(m_.same_state(got.get(), want.get()), "entries in for_each");
      ++i;
    });
    expect(i == model_.end(), "end of for_each");
    tree_.query(got.get());
    total(kLowest, kHighest, want.get());
    expect(m_.same_state(got.get(), want.get()), "query()");
    for (int n = 0; n < 3; ++n) {
      Time from = kLowest, to = kHighest;
      if (!model_.empty()) {
        const auto a = static_cast<Word>(model_.begin()->first) - 2;
        const Word span = static_cast<Word>(model_.rbegin()->first) - a + 4;
        if (rng_() % 4 != 0) from = static_cast<Time>(a + rng_() % span);
        if (rng_() % 4 != 0) to = static_cast<Time>(a + rng_() % span);
      }
      tree_.query(from, to, got.get());
      total(from, to, want.get());
      expect(m_.same_state(got.get(), want.get()), "query(from, to)");
    }
  }
  std::size_t size() const { return tree_.size(); }
  unsigned every = 1;  // verify after this many operations

 private:
  using Cell = typename M::Cell;

  // Applies a step to tree and model; with a monoid that throws, tries it with a short fuse first.
  template <class F, class G>
  void step(F&& change, G&& follow) {
    if constexpr (!M::nothrow) {
      for (int tries = rng_() % 3; tries > 0; --tries) {
        fuse = static_cast<long>(rng_() % 40);
        try {
          change();
          fuse = -1;
          return done(follow);
        } catch (const std::runtime_error&) {
          fuse = -1;
          ++throws;
          verify();
        }
      }
    }
    change();
    done(follow);
  }
  template <class G>
  void done(G&& follow) {
    follow();
    if (++operations % every == 0) verify();
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
  void expect(bool holds, const char* what) {
    if (!holds) fail(what, name_);
  }

  M m_;
  Tree<M, Fingers> tree_;
  std::map<Time, std::vector<Value>> model_;
  std::mt19937 rng_;
  std::string name_;
};

// Orders chosen to be hard, then everything at random.
template <class M, bool Fingers>
void orders(TreeShape shape, unsigned seed, const char* name, int n) {
  Trial<M, Fingers> t(shape, seed, name);
  t.every = 7;
  for (int i = 0; i < n; ++i) t.insert(i);  // ascending
  for (int i = 0; i < n / 2; ++i) t.evict();
  for (int i = 0; i < n; ++i) t.insert(-i);                               // descending
  for (int i = 0; i < n; ++i) t.insert(i % 2 != 0 ? i : 2 * n - i);       // zig-zag
  for (int i = 0; i < n; ++i) t.insert(i < n / 2 ? 3 * i : 3 * (n - i));  // organ pipe
  t.bulk_evict(-n / 2);
  for (int i = 0; i < n / 4; ++i) t.insert(-10 * n), t.evict();  // far late
  for (int i = 2 * n; i > n / 3; --i) t.evict(i);                // from the back
  for (int i = 0; i < n / 3; ++i) t.evict((i * 7) % (n / 3));    // from the middle
  t.insert(kLowest), t.insert(kHighest), t.insert(kLowest), t.bulk_evict(kLowest);
  t.insert(kLowest), t.evict(kHighest);
  t.bulk_insert({kLowest, kLowest, 0, kHighest, kHighest});
  t.bulk_evict(kHighest);
  t.verify();
}

template <class M, bool Fingers>
void published_faults(TreeShape shape, const char* name) {
  Trial<M, Fingers> t(shape, 1, name);
  for (Time i = 0; i <= 60; i += 10) t.insert(i);
  t.bulk_insert({11, 12, 13, 14, 15, 20, 21, 22, 23, 24, 25});
  t.bulk_insert({30, 30, 40, 40, 40});
  t.bulk_evict(22);
  t.bulk_evict(0);
  t.bulk_evict(kHighest);
  t.evict();
  t.verify();
}

template <class M, bool Fingers>
void trials(const char* name, unsigned seed, int rounds) {
  const M m;
  const TreeShape shapes[] = {{4, 4}, {2, 4}, {3, 5}, {8, 4}, {5, 9}, {16, 8}, default_shape(m)};
  for (const TreeShape& shape : shapes) {
    published_faults<M, Fingers>(shape, name);
    orders<M, Fingers>(shape, seed, name, rounds / 20);
    const Time spans[] = {30, 300, 3000};
    for (const Time span : spans) {
      Trial<M, Fingers> t(shape, seed + static_cast<unsigned>(span), name);
      t.every = span < 100 ? 1 : span < 1000 ? 4 : 29;
      for (int i = 0; i < rounds; ++i) t.random(i / 4, i / 4 + span);
      t.verify();
    }
    if (objects != 0) fail("objects leaked", name);
  }
}

}  // namespace

int main(int argc, char** argv) {
  const int rounds = argc > 1 ? std::atoi(argv[1]) : 1000;
  const auto seed = static_cast<unsigned>(argc > 2 ? std::atoi(argv[2]) : 1);
  try {
    trials<Scalar<Affine>, true>("affine", seed, rounds);
    trials<Scalar<Affine>, false>("affine, classic", seed, rounds);
    trials<Scalar<SumF64>, true>("sum", seed, rounds);
    trials<Scalar<SumI64>, true>("integer sum", seed, rounds);
    trials<Scalar<SumI64>, false>("integer sum, classic", seed, rounds);
    trials<Wide, true>("wide", seed, rounds);
    trials<Refs<false>, true>("references", seed, rounds);
    trials<Refs<true>, true>("references, commutative", seed, rounds);
    trials<Refs<false>, false>("references, classic", seed, rounds);
  } catch (const std::exception& e) {
    fail(e.what(), "thrown");
  }
  std::printf("ok: %ld operations, %ld of them undone first\n", operations, throws);
}
