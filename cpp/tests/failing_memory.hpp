// Memory that runs out at a chosen allocation, and monoids that show what is left of a window then.
//
// Included by one file of a program: it replaces the global operator new, from which all of the core
// takes its memory (arrays, nodes, chunks, vectors).
#pragma once

#include <cstdio>
#include <cstdlib>
#include <memory>
#include <new>
#include <string>
#include <utility>
#include <vector>

#include "sash/record.hpp"
#include "sash/registry.hpp"

namespace failing {

inline long left = -1;       // allocations until one fails; -1: none does
inline bool forever = true;  // and all after it, or only that one
inline long blocks = 0;      // in use

inline void* allocate(std::size_t bytes, std::size_t alignment) {
  if (left == 0) {
    if (!forever) left = -1;
    throw std::bad_alloc();
  }
  if (left > 0) --left;
  void* made = std::aligned_alloc(alignment, (bytes + alignment - 1) / alignment * alignment);
  if (made == nullptr) throw std::bad_alloc();
  ++blocks;
  return made;
}
inline void release(void* p) noexcept {
  if (p != nullptr) --blocks;
  std::free(p);
}

}  // namespace failing

void* operator new(std::size_t n) { return failing::allocate(n + (n == 0), 16); }
void* operator new(std::size_t n, std::align_val_t a) {
  return failing::allocate(n, static_cast<std::size_t>(a));
}
void operator delete(void* p) noexcept { failing::release(p); }
void operator delete(void* p, std::size_t) noexcept { failing::release(p); }
void operator delete(void* p, std::align_val_t) noexcept { failing::release(p); }
void operator delete(void* p, std::size_t, std::align_val_t) noexcept { failing::release(p); }

namespace failing {

[[noreturn]] inline void fail(const char* what, const std::string& where) {
  left = -1;
  std::printf("FAILED: %s (%s)\n", what, where.c_str());
  std::exit(1);
}

inline long operations = 0, failures = 0;

// Runs `change` with its 1st, 2nd, ... allocation failing, until it passes. After each failure
// `unchanged` looks at what is there.
template <class F, class G>
void every_way(F&& change, G&& unchanged) {
  for (long k = 0;; ++k) {
    for (const bool whole : {true, false}) {
      forever = whole;
      left = k;
      bool failed = false;
      try {
        change();
      } catch (const std::bad_alloc&) {
        failed = true;
      }
      left = -1;
      if (!failed) {
        ++operations;
        return;
      }
      ++failures;
      unchanged();
    }
  }
}

using sash::Word;

// ---- monoids -------------------------------------------------------------------------------------
inline constexpr Word kPrime = 1000000007;

struct Map {  // x -> a x + b: composing them is not commutative
  Word a = 1, b = 0;
  static Map of(Word v) { return {v % 97 + 2, v % 1009}; }
  friend Map operator*(Map f, Map g) { return {f.a * g.a % kPrime, (f.a * g.b + f.b) % kPrime}; }
  bool operator==(const Map&) const = default;
};
struct AffineScalar {
  using In = std::int64_t;
  using State = Map;
  using Out = Word;
  static constexpr bool commutative = false, exact = true;
  State identity() const { return {}; }
  State lift(In v) const { return Map::of(static_cast<Word>(v)); }
  State combine(State a, State b) const { return a * b; }
  bool lower(State s, Out& out) const { return out = s.a ^ s.b, true; }
};
struct Affine : sash::Scalar<AffineScalar> {
  static In in(const std::int64_t& v) { return {v, true}; }
};

// Each state is an object on the heap, so that every operation but sharing one may fail.
struct Object {
  Map map;
  long refs;
};
struct Shared {
  using Cell = Object*;
  using In = std::int64_t;
  static constexpr bool nothrow = false, trivial = false;
  static constexpr std::size_t fixed_cells = 1;
  static In in(const std::int64_t& v) { return v; }
  static std::size_t state_cells() { return 1; }
  static std::size_t entry_cells() { return 1; }
  bool commutative() const { return false; }
  bool exact() const { return true; }
  void start(Cell* c, std::size_t n) const { std::fill_n(c, n, nullptr); }
  static void drop(Cell* c) {
    if (*c != nullptr && --(*c)->refs == 0) delete *c;
    *c = nullptr;
  }
  static void put(Cell* d, Map m) {
    Cell fresh = new Object{m, 1};
    drop(d);
    *d = fresh;
  }
  static void share(Cell* d, Cell s) {
    if (s != nullptr) ++s->refs;
    drop(d);
    *d = s;
  }
  static Map map(Cell c) { return c == nullptr ? Map{} : c->map; }  // null: the identity
  void drop_entry(Cell* c) const { drop(c); }
  void drop_state(Cell* c) const { drop(c); }
  void lift(Cell* e, const In& v) const { put(e, Map::of(static_cast<Word>(v))); }
  void set_identity(Cell* s) const { drop(s); }
  void copy_state(Cell* d, const Cell* s) const { share(d, *s); }
  void copy_entry(Cell* d, const Cell* s) const { share(d, *s); }
  void to_state(Cell* d, const Cell* e) const { share(d, *e); }
  void append(Cell* s, const Cell* e) const { put(s, map(*s) * map(*e)); }
  void prepend(Cell* d, const Cell* e, const Cell* s) const { put(d, map(*e) * map(*s)); }
  void combine(Cell* d, const Cell* a, const Cell* b) const { put(d, map(*a) * map(*b)); }
  void merge_entry(Cell* e, const Cell* l) const { put(e, map(*e) * map(*l)); }
  bool same_state(const Cell* a, const Cell* b) const { return map(*a) == map(*b); }
};

// Records whose columns all hold the same integer.
template <int Which>
struct Product : sash::Record {
  Product() : sash::Record(layout_of()) {}
  static sash::Row in(const std::int64_t& v) {
    static Word row[kColumns];
    std::fill_n(row, kColumns, static_cast<Word>(v));
    return {row, (Word{1} << kColumns) - 1};
  }

 private:
  static constexpr std::size_t kColumns = 20;  // more than fit beside a state on the stack
  static std::shared_ptr<const sash::RecordLayout> layout_of() {
    using sash::find_ops;
    std::vector<sash::Component> parts;
    if (Which == 0) {  // small and not commutative
      parts.push_back({find_ops("sum_i64"), {}, 0});
      parts.push_back({find_ops("argmax_i64"), {}, 1, 2});
      parts.push_back({find_ops("last"), {}, 19});
    } else {  // states of 3 KB, of words that come and go in order
      parts.push_back({find_ops("nth_youngest"), {{40}, {}}, 0});
      parts.push_back({find_ops("topk_i64"), {{30}, {}}, 1});
      parts.push_back({find_ops("countmin"), {{64, 5}, {}}, 2});
    }
    return std::make_shared<const sash::RecordLayout>(std::move(parts), kColumns);
  }
};
using Small = Product<0>;
using Big = Product<1>;

// ---- a structure's archive, in memory -------------------------------------------------------------
template <class Cell>
struct Saved {
  std::vector<std::uint64_t> numbers;
  std::vector<std::int64_t> times;
  std::vector<Cell> cells;  // borrowed from the structure that was saved
};

template <class Cell, bool Load>
class Archive {
 public:
  static constexpr bool loading = Load;
  explicit Archive(Saved<Cell>& s) : s_(s) {}
  template <class N, class M>
  void count(N& n, const M&) {
    number(n);
  }
  template <class N>
  void number(N& n) {
    if constexpr (Load) n = static_cast<N>(s_.numbers[at_++]);
    else s_.numbers.push_back(static_cast<std::uint64_t>(n));
  }
  template <class T>
  void time(T& t) {
    if constexpr (Load) t = s_.times[time_++];
    else s_.times.push_back(t);
  }
  void require(bool holds, const char* what) {
    if (!holds) fail(what, "archive");
  }
  template <class M>
  void state(const M& m, Cell* s) {
    if constexpr (Load) m.copy_state(s, next(m.state_cells()));
    else keep(s, m.state_cells());
  }
  template <class M>
  void entry(const M& m, Cell* e) {
    if constexpr (Load) m.copy_entry(e, next(m.entry_cells()));
    else keep(e, m.entry_cells());
  }

 private:
  const Cell* next(std::size_t n) { return s_.cells.data() + std::exchange(cell_, cell_ + n); }
  void keep(const Cell* from, std::size_t n) { s_.cells.insert(s_.cells.end(), from, from + n); }
  Saved<Cell>& s_;
  std::size_t at_ = 0, time_ = 0, cell_ = 0;
};

}  // namespace failing
