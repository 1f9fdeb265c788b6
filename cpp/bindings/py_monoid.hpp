// PyMonoid: aggregates whose lift, combine and lower are Python callables and whose states are
// Python objects. Needs the GIL throughout. A cell is an owned reference; null is the identity that
// Sash adjoins when the user gave none (combining with it calls nothing).
#pragma once

#include <memory>

#include "errors.hpp"
#include "sash/monoid.hpp"

namespace sash_py {

struct PyFunctions {
  nb::object lift, combine, lower, identity, inverse;  // none: absent
  bool commutative = false;
  bool skip_nulls = true;
};

class PyMonoid {
 public:
  using Cell = PyObject*;
  using In = nb::handle;
  static constexpr bool nothrow = false, trivial = false;
  static constexpr std::size_t fixed_cells = 1;

  explicit PyMonoid(std::shared_ptr<const PyFunctions> f) : f_(std::move(f)) {}

  const PyFunctions& functions() const { return *f_; }
  static constexpr std::size_t state_cells() { return 1; }
  static constexpr std::size_t entry_cells() { return 1; }
  bool commutative() const { return f_->commutative; }
  bool exact() const { return true; }
  bool invertible() const { return !f_->inverse.is_none(); }

  void start(Cell* c, std::size_t cells) const {
    for (std::size_t i = 0; i < cells; ++i) c[i] = nullptr;
  }
  void drop_entry(Cell* c) const { Py_CLEAR(*c); }
  void drop_state(Cell* c) const { Py_CLEAR(*c); }

  void lift(Cell* e, const In& v) const;
  void set_identity(Cell* s) const;
  void copy_state(Cell* d, const Cell* s) const;
  void copy_entry(Cell* d, const Cell* e) const { copy_state(d, e); }
  void to_state(Cell* d, const Cell* e) const { copy_state(d, e); }
  void append(Cell* s, const Cell* e) const { combine(s, s, e); }
  void prepend(Cell* d, const Cell* e, const Cell* s) const { combine(d, e, s); }
  void merge_entry(Cell* e, const Cell* later) const { combine(e, e, later); }
  void combine(Cell* d, const Cell* a, const Cell* b) const;
  void uncombine_front(Cell* s, const Cell* e) const;

  bool same_state(const Cell* a, const Cell* b) const;

  nb::object lower(const Cell* s) const;

 private:
  // A lift may answer `...`: nothing of this row counts (its column is null).
  void lift_by_call(Cell* e, const In& v) const;
  std::shared_ptr<const PyFunctions> f_;
};
static_assert(sash::Monoid<PyMonoid>);

}  // namespace sash_py
