#include "py_monoid.hpp"

namespace sash_py {
namespace {

template <class... Args>
PyObject* call(const nb::object& f, Args... args) {
  PyObject* argv[] = {args...};
  PyObject* result = PyObject_Vectorcall(f.ptr(), argv, sizeof...(Args), nullptr);
  if (result == nullptr) throw nb::python_error();
  return result;
}

// The old reference goes last: dropping it may run any Python code.
void replace(PyObject** d, PyObject* fresh) {
  PyObject* old = *d;
  *d = fresh;
  Py_XDECREF(old);
}

}  // namespace

void PyMonoid::lift(Cell* e, const In& v) const {
  if (v.is_none() && f_->skip_nulls) set_identity(e);
  else if (f_->lift.is_none()) replace(e, v.inc_ref().ptr());
  else lift_by_call(e, v);
}

void PyMonoid::set_identity(Cell* s) const {
  replace(s, f_->identity.is_none() ? nullptr : nb::handle(f_->identity).inc_ref().ptr());
}

void PyMonoid::copy_state(Cell* d, const Cell* s) const {
  Py_XINCREF(*s);
  replace(d, *s);
}

void PyMonoid::combine(Cell* d, const Cell* a, const Cell* b) const {
  if (*a == nullptr) return copy_state(d, b);
  if (*b == nullptr) return copy_state(d, a);
  replace(d, call(f_->combine, *a, *b));
}

void PyMonoid::uncombine_front(Cell* s, const Cell* e) const {
  if (*e == nullptr) return;
  replace(s, call(f_->inverse, *s, *e));
}

bool PyMonoid::same_state(const Cell* a, const Cell* b) const {
  if (*a == nullptr || *b == nullptr) return *a == *b;
  const int equal = PyObject_RichCompareBool(*a, *b, Py_EQ);
  if (equal < 0) throw nb::python_error();
  return equal == 1;
}

nb::object PyMonoid::lower(const Cell* s) const {
  if (*s == nullptr) return nb::none();
  if (f_->lower.is_none()) return nb::borrow(*s);
  return nb::steal(call(f_->lower, *s));
}

void PyMonoid::lift_by_call(Cell* e, const In& v) const {
  PyObject* lifted = call(f_->lift, v.ptr());
  if (lifted != Py_Ellipsis) return replace(e, lifted);
  Py_DECREF(lifted);
  set_identity(e);
}

}  // namespace sash_py
