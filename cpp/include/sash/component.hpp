// A component of a Record: one aggregate as a small table of functions over machine words.
//
// `adapt<S>()` makes the table from a scalar S (scalars.hpp, more_scalars.hpp), so that an
// aggregate is written once and serves both the inlined structures and records of many aggregates.
#pragma once

#include <bit>
#include <cstring>
#include <string>
#include <vector>

#include "sash/scalars.hpp"

namespace sash {

struct Params {
  std::vector<std::int64_t> ints;
  std::vector<double> doubles;
  std::int64_t integer(std::size_t i, std::int64_t otherwise) const {
    return i < ints.size() ? ints[i] : otherwise;
  }
};

// The inputs of one component in one row: their cells, and whether the second is there.
struct Inputs {
  Word first = 0, second = 0;
  bool second_valid = true;
};

struct Ops {
  int inputs;  // how many columns it reads; a null in the first (or only) one skips the row
  bool commutative, exact;
  std::size_t (*words)(const Params&);
  std::size_t (*out_words)(const Params&);
  void (*identity)(Word* s, const Params&);
  void (*absorb)(Word* s, const Inputs&, const Params&);                  // s := s (x) in
  void (*combine)(Word* d, const Word* a, const Word* b, const Params&);  // d may be a or b
  void (*remove)(Word* s, const Inputs&, const Params&);                  // null: not invertible
  bool (*lower)(const Word* s, Word* out, const Params&);                 // false: null
  // May these words be a state? Null: any words may.
  bool (*sound)(const Word* s, const Params&) = nullptr;
  bool overflows = false;  // lower may throw
  // The same as absorb, where there is one input. Null: there are none or two.
  void (*absorb_one)(Word* s, Word in, const Params&) = nullptr;
  // s := in (x) s. Needed where order matters and a state may have more than kMostWords.
  void (*precede)(Word* s, const Inputs&, const Params&) = nullptr;
};

// Of a state that is put together on the stack: no operation of a window waits for memory midway.
inline constexpr std::size_t kMostWords = 16;

// A state of three words is copied one by one: GCC copies 24 bytes through a buffer, where a load of
// two words waits for the stores of each (a row of a variance: 12 ns more).
template <class T>
constexpr bool three_words = sizeof(T) == 3 * sizeof(Word);

template <class T>
T from_words(const Word* w) {
  T value;
  if constexpr (three_words<T>) {
    auto& [a, b, c] = value;
    std::memcpy(&a, w, sizeof(Word));
    std::memcpy(&b, w + 1, sizeof(Word));
    std::memcpy(&c, w + 2, sizeof(Word));
  } else {
    std::memcpy(&value, w, sizeof(T));
  }
  return value;
}
template <class T>
void to_words(Word* w, const T& value) {
  if constexpr (three_words<T>) {
    const auto& [a, b, c] = value;
    std::memcpy(w, &a, sizeof(Word));
    std::memcpy(w + 1, &b, sizeof(Word));
    std::memcpy(w + 2, &c, sizeof(Word));
  } else {
    std::memcpy(w, &value, sizeof(T));
  }
}

namespace detail {

template <class S>
S make(const Params& p) {
  if constexpr (requires { S::from(p); }) return S::from(p);
  else return S{};
}

template <class S>
typename S::State lift(const S& s, const Inputs& in) {
  if constexpr (requires { s.lift_row(in); }) return s.lift_row(in);
  else return s.lift(std::bit_cast<typename S::In>(in.first));
}

}  // namespace detail

template <class S>
constexpr std::size_t words_of = (sizeof(typename S::State) + sizeof(Word) - 1) / sizeof(Word);

template <class S>
constexpr int inputs_of() {
  if constexpr (requires { S::inputs; }) return S::inputs;
  else return 1;
}

template <class S>
constexpr Ops adapt() {
  using State = typename S::State;
  static_assert(sizeof(State) % sizeof(Word) == 0 && words_of<S> <= kMostWords);
  Ops ops{};
  ops.inputs = inputs_of<S>();
  ops.commutative = S::commutative;
  ops.exact = S::exact;
  ops.words = [](const Params&) { return words_of<S>; };
  ops.out_words = [](const Params&) {
    if constexpr (requires { S::out_words; }) return S::out_words;
    else return std::size_t{1};
  };
  ops.identity = [](Word* s, const Params& p) { to_words(s, detail::make<S>(p).identity()); };
  ops.absorb = [](Word* s, const Inputs& in, const Params& p) {
    const S op = detail::make<S>(p);
    to_words(s, op.combine(from_words<State>(s), detail::lift(op, in)));
  };
  ops.combine = [](Word* d, const Word* a, const Word* b, const Params& p) {
    to_words(d, detail::make<S>(p).combine(from_words<State>(a), from_words<State>(b)));
  };
  if constexpr (requires(S op, State s) { op.remove_front(s, s); }) {
    ops.remove = [](Word* s, const Inputs& in, const Params& p) {
      const S op = detail::make<S>(p);
      to_words(s, op.remove_front(from_words<State>(s), detail::lift(op, in)));
    };
  }
  if constexpr (inputs_of<S>() == 1) {
    ops.absorb_one = [](Word* s, Word in, const Params& p) {
      const S op = detail::make<S>(p);
      to_words(s, op.combine(from_words<State>(s), detail::lift(op, Inputs{in})));
    };
  }
  if constexpr (requires { S::overflows; }) ops.overflows = S::overflows;
  if constexpr (requires(const State& s) { S::sound(s); })
    ops.sound = [](const Word* s, const Params&) { return S::sound(from_words<State>(s)); };
  ops.lower = [](const Word* s, Word* out, const Params& p) {
    const S op = detail::make<S>(p);
    if constexpr (requires(const State& st) { op.lower_row(st, out); }) {
      return op.lower_row(from_words<State>(s), out);
    } else {
      typename S::Out value{};
      const bool valid = op.lower(from_words<State>(s), value);
      to_words(out, value);
      return valid;
    }
  };
  return ops;
}

}  // namespace sash
