// Mutants as switches. At most one is on: the one that the environment names, or that was set.
#pragma once

#include <concepts>
#include <cstdio>
#include <cstdlib>
#include <type_traits>

namespace sash_mutant {

inline unsigned from_environment() {
  const char* given = std::getenv("SASH_MUTANT");
  return given == nullptr ? 0 : static_cast<unsigned>(std::atoi(given));
}
inline unsigned active = from_environment();
inline unsigned char reached[SASH_MUTANTS + 1];

// With SASH_REACHED: at the end, a file of one byte for each mutant, 1 where a run came by.
struct Report {
  ~Report() {
    const char* path = std::getenv("SASH_REACHED");
    if (path == nullptr) return;
    if (std::FILE* out = std::fopen(path, "wb")) {
      std::fwrite(reached, 1, sizeof reached, out);
      std::fclose(out);
    }
  }
};
inline Report report;

// What a compiler evaluates is not mutated.
constexpr bool on(unsigned n) {
  if (std::is_constant_evaluated()) return false;
  reached[n] = 1;
  return active == n;
}

#define SASH_COMPARISON(name, usual, other)                 \
  template <class A, class B>                               \
  constexpr bool name(unsigned n, const A& a, const B& b) { \
    return on(n) ? (a other b) : (a usual b);               \
  }
SASH_COMPARISON(less, <, <=)
SASH_COMPARISON(at_most, <=, <)
SASH_COMPARISON(more, >, >=)
SASH_COMPARISON(at_least, >=, >)
SASH_COMPARISON(same, ==, !=)
SASH_COMPARISON(differ, !=, ==)

// The other operator where these operands have it, else one more.
#define SASH_OPERATOR(name, usual, other)                                          \
  template <class A, class B>                                                      \
  constexpr auto name(unsigned n, const A& a, const B& b) -> decltype(a usual b) { \
    using Result = decltype(a usual b);                                            \
    if constexpr (requires {                                                       \
                    { a other b } -> std::convertible_to<Result>;                  \
                  }) {                                                             \
      return on(n) ? static_cast<Result>(a other b) : (a usual b);                 \
    } else {                                                                       \
      return on(n) ? (a usual b) + 1 : (a usual b);                                \
    }                                                                              \
  }
SASH_OPERATOR(plus, +, -)
SASH_OPERATOR(minus, -, +)
SASH_OPERATOR(times, *, +)
SASH_OPERATOR(divided, /, *)
SASH_OPERATOR(modulo, %, /)
SASH_OPERATOR(both_bits, &, |)
SASH_OPERATOR(any_bits, |, &)
SASH_OPERATOR(odd_bits, ^, |)
SASH_OPERATOR(shift_left, <<, >>)
SASH_OPERATOR(shift_right, >>, <<)

#define SASH_ASSIGNMENT(name, usual, other)         \
  template <class A, class B>                       \
  constexpr A& name(unsigned n, A& a, const B& b) { \
    if (on(n)) a other b;                           \
    else a usual b;                                 \
    return a;                                       \
  }
SASH_ASSIGNMENT(add_to, +=, -=)
SASH_ASSIGNMENT(take_from, -=, +=)
SASH_ASSIGNMENT(add_bits, |=, &=)
SASH_ASSIGNMENT(keep_bits, &=, |=)
SASH_ASSIGNMENT(flip_bits, ^=, |=)

template <class A>
constexpr A& up(unsigned n, A& a) {
  return on(n) ? --a : ++a;
}
template <class A>
constexpr A& down(unsigned n, A& a) {
  return on(n) ? ++a : --a;
}
template <class A>
constexpr bool flip(unsigned n, const A& a) {
  return static_cast<bool>(a) != on(n);
}
template <class A>
constexpr A one_more(unsigned n, A a) {
  return on(n) ? static_cast<A>(a + 1) : a;
}
template <class T>
constexpr T least(unsigned n, const T& a, const T& b) {
  return (b < a) != on(n) ? b : a;
}
template <class T>
constexpr T most(unsigned n, const T& a, const T& b) {
  return (a < b) != on(n) ? b : a;
}
template <class F, class A, class B>
constexpr decltype(auto) sides(unsigned n, F&& f, const A& a, const B& b) {
  if (on(n)) return f(b, a);
  return f(a, b);
}

}  // namespace sash_mutant

// For whoever loads the library.
extern "C" {
[[gnu::used, gnu::visibility("default")]] inline void sash_mutant_set(unsigned n) {
  sash_mutant::active = n;
}
[[gnu::used, gnu::visibility("default")]] inline unsigned char* sash_mutant_reached() {
  return sash_mutant::reached;
}
}
