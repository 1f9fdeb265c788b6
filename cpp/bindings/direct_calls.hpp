// insert, evict and query as plain C methods of the window type: a round from Python is three calls
// of a few nanoseconds' work each, and a binding's own dispatch would be most of it.
#pragma once

#include "holder.hpp"

namespace sash_py {

// Runs f for the window that `self` is; a C++ exception becomes a Python one, as nanobind would
// have it.
template <class Any, class F>
PyObject* direct(PyObject* self, F&& f) noexcept {
  try {
    if (!nb::inst_ready(self)) [[unlikely]]
      raise(PyExc_TypeError, "the window has not been initialised: call its __init__");
    return f(*nb::inst_ptr<Holder<Any>>(self));
  } catch (nb::python_error& e) {
    e.restore();
  } catch (...) {
    translate(std::current_exception());
  }
  return nullptr;
}

template <class Any>
PyObject* direct_insert(PyObject* self, PyObject* value) noexcept {
  return direct<Any>(self, [value](Holder<Any>& w) {
    w.use()->insert(value);
    Py_RETURN_NONE;
  });
}
template <class Any>
PyObject* direct_evict(PyObject* self, PyObject*) noexcept {
  return direct<Any>(self, [](Holder<Any>& w) {
    const auto use = w.use();
    refuse_empty(use->size(), "evict from");
    use->evict();
    Py_RETURN_NONE;
  });
}
template <class Any>
PyObject* direct_query(PyObject* self, PyObject*) noexcept {
  return direct<Any>(self, [](Holder<Any>& w) { return w.use()->query().release().ptr(); });
}

template <class Any>
PyMethodDef* direct_methods() {
  static PyMethodDef methods[] = {
      {"insert", &direct_insert<Any>, METH_O,
       "insert($self, value, /)\n--\n\nInsert a value at the end."},
      {"evict", &direct_evict<Any>, METH_NOARGS, "evict($self, /)\n--\n\nEvict the oldest entry."},
      {"query", &direct_query<Any>, METH_NOARGS,
       "query($self, /)\n--\n\nReturn the aggregate of the whole window."},
      {nullptr, nullptr, 0, nullptr}};
  return methods;
}

template <class Any>
const PyType_Slot* collected_and_direct() {
  static const PyType_Slot slots[] = {{Py_tp_traverse, reinterpret_cast<void*>(&traverse<Any>)},
                                      {Py_tp_methods, direct_methods<Any>()},
                                      {0, nullptr}};
  return slots;
}

}  // namespace sash_py
