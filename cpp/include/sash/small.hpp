// Small<Words>: a scalar aggregate of that many words, whose operations are called, not inlined.
//
// One type serves all aggregates of a size. It is for code that is long and does much for each
// combine, such as the window operator: compiled for each scalar it would be ten times as big and
// hardly faster. States and entries have the bytes that Scalar<S> gives them.
#pragma once

#include "sash/component.hpp"

namespace sash {

template <std::size_t Words>
class Small {
 public:
  struct Cell {
    Word words[Words];
  };
  using In = Nullable<Word>;
  static constexpr bool nothrow = true, trivial = true;
  static constexpr std::size_t fixed_cells = 1;

  Small(const Ops* ops, Params params) : ops_(ops), params_(std::move(params)) {}

  static constexpr std::size_t state_cells() { return 1; }
  static constexpr std::size_t entry_cells() { return 1; }
  bool overflows() const { return ops_->overflows; }
  bool commutative() const { return ops_->commutative; }
  bool exact() const { return ops_->exact; }
  void start(Cell*, std::size_t) const {}
  void drop_entry(Cell*) const {}
  void drop_state(Cell*) const {}
  void lift(Cell* e, const In& in) const {
    set_identity(e);
    fold(e, in);
  }
  // s := s (x) the entry for a row
  void fold(Cell* s, const In& in) const {
    if (in.valid) ops_->absorb_one(s->words, in.value, params_);
  }
  void set_identity(Cell* s) const { ops_->identity(s->words, params_); }
  void copy_state(Cell* d, const Cell* s) const { *d = *s; }
  void copy_entry(Cell* d, const Cell* e) const { *d = *e; }
  void to_state(Cell* d, const Cell* e) const { *d = *e; }
  void append(Cell* s, const Cell* e) const { combine(s, s, e); }
  void prepend(Cell* d, const Cell* e, const Cell* s) const { combine(d, e, s); }
  void combine(Cell* d, const Cell* a, const Cell* b) const {
    ops_->combine(d->words, a->words, b->words, params_);
  }
  void merge_entry(Cell* e, const Cell* later) const { combine(e, e, later); }
  bool same_state(const Cell* a, const Cell* b) const {
    return std::memcmp(a, b, sizeof(Cell)) == 0;
  }
  bool sound(const Cell* s) const {
    return ops_->sound == nullptr || ops_->sound(s->words, params_);
  }
  bool lower(const Cell* s, Word* out) const { return ops_->lower(s->words, out, params_); }

 private:
  const Ops* ops_;
  Params params_;
};
static_assert(Monoid<Small<1>>);

// Calls f with an aggregate of one input as a Small of its size; false when there is none.
template <class F>
bool with_small(const Ops* ops, const Params& params, F&& f) {
  if (ops->absorb_one == nullptr) return false;
  switch (ops->words(params)) {
    case 1:
      return f(Small<1>(ops, params)), true;
    case 2:
      return f(Small<2>(ops, params)), true;
    case 3:
      return f(Small<3>(ops, params)), true;
    default:
      return false;
  }
}

}  // namespace sash
