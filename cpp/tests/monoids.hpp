// The monoids of trials: not commutative, with entries smaller than states, and with references to
// objects and operations that throw.
#pragma once

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <stdexcept>
#include <string>
#include <utility>

#include "sash/scalars.hpp"

namespace sash::trials {

inline constexpr Word kPrime = 1000000007;

struct Map {  // x -> a x + b
  Word a = 1, b = 0;
  static Map of(Word v) { return {v % 97 + 2, v % 1009}; }
  friend Map operator*(Map f, Map g) { return {f.a * g.a % kPrime, (f.a * g.b + f.b) % kPrime}; }
  bool operator==(const Map&) const = default;
  Map inverse() const {
    Word power = 1, base = a;  // a^(p - 2)
    for (Word e = kPrime - 2; e != 0; e >>= 1, base = base * base % kPrime)
      if (e & 1) power = power * base % kPrime;
    return {power, (kPrime - power * b % kPrime) % kPrime};
  }
};

struct Affine {
  using In = std::int64_t;
  using Out = Word;
  using State = Map;
  static constexpr bool commutative = false, exact = true;
  State identity() const { return {}; }
  State lift(In v) const { return Map::of(static_cast<Word>(v)); }
  State combine(State a, State b) const { return a * b; }
  State remove_front(State s, State e) const { return e.inverse() * s; }
  bool lower(State s, Out& out) const { return out = s.a << 32 | s.b, true; }
};

// Entries of two words, states of six.
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
inline long objects = 0;
inline long fuse = -1;

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
  void uncombine_front(Cell* s, const Cell* e) const {
    put(s, times((*e)->map.inverse(), (*s)->map));
  }
  bool same_state(const Cell* a, const Cell* b) const { return (*a)->map == (*b)->map; }
};

inline std::string source;  // where the choices come from: a seed, a file

[[noreturn]] inline void fail(const std::string& what, const std::string& where) {
  std::fprintf(stderr, "FAILED: %s (%s) %s\n", what.c_str(), where.c_str(), source.c_str());
  std::abort();  // where a fuzzer notes what led here
}

}  // namespace sash::trials
