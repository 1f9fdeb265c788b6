// What is told of windows of Python aggregates: their states, lowered when they are shown.
#pragma once

#include <cmath>
#include <vector>

#include "py_monoid.hpp"
#include "sash/slicing/outcomes.hpp"

namespace sash::slicing {

template <>
class Outcomes<sash_py::PyMonoid> {
  using Object = nanobind::object;

 public:
  explicit Outcomes(const sash_py::PyMonoid& m) : m_(m) {}
  const sash_py::PyMonoid& like() const { return m_; }
  std::size_t size() const { return states_.size(); }
  void push(PyObject* const* state) { states_.push_back(nanobind::borrow(*state)); }
  void push_copy(const Outcomes& o, std::size_t i) { states_.push_back(o.states_[i]); }
  void insert_copy(std::size_t at, const Outcomes& o, std::size_t i) {
    states_.insert(states_.begin() + static_cast<std::ptrdiff_t>(at), o.states_[i]);
  }
  void set_copy(std::size_t at, const Outcomes& o, std::size_t i) { states_[at] = o.states_[i]; }
  void pop() { states_.pop_back(); }
  void drop_front(std::size_t n) {
    states_.erase(states_.begin(), states_.begin() + static_cast<std::ptrdiff_t>(n));
  }
  void clear() { states_.clear(); }
  bool same(std::size_t i, const Outcomes& o, std::size_t j) const {
    const Object a = lower(i), b = o.lower(j);
    const int equal = PyObject_RichCompareBool(a.ptr(), b.ptr(), Py_EQ);
    if (equal < 0) PyErr_Clear();  // as arrays do: they have no one answer
    return equal == 1 || (is_nan(a) && is_nan(b));
  }
  Object lower(std::size_t i) const {
    PyObject* state = states_[i].ptr();
    return m_.lower(&state);
  }
  const Object& state(std::size_t i) const { return states_[i]; }
  std::size_t bytes() const { return states_.capacity() * sizeof(Object); }

 private:
  static bool is_nan(const Object& o) {
    return PyFloat_Check(o.ptr()) && std::isnan(PyFloat_AS_DOUBLE(o.ptr()));
  }
  sash_py::PyMonoid m_;
  std::vector<Object> states_;
};

}  // namespace sash::slicing
