#include "errors.hpp"

#include <nanobind/stl/string.h>

#include "sash/scalars.hpp"
#include "sash/timed.hpp"

namespace sash_py {

void raise(PyObject* type, std::string_view message) {
  PyErr_SetString(type, std::string(message).c_str());
  throw nb::python_error();
}

void translate(const std::exception_ptr& p) {
  try {
    std::rethrow_exception(p);
  } catch (const std::overflow_error& e) {  // sash::Overflow among them
    PyErr_SetString(PyExc_OverflowError, e.what());
  } catch (const sash::TimeWentBack& e) {
    PyErr_SetString(PyExc_ValueError, e.what());
  } catch (const std::logic_error& e) {
    PyErr_SetString(PyExc_AssertionError, e.what());
  } catch (const std::bad_alloc& e) {
    PyErr_SetString(PyExc_MemoryError, e.what());
  } catch (const std::exception& e) {
    PyErr_SetString(PyExc_RuntimeError, e.what());
  }
}

std::string shown(nb::handle v) {
  std::string text = nb::cast<std::string>(nb::repr(v));
  if (text.size() > 60) text = text.substr(0, 57) + "...";
  return text + " (" +
         nb::cast<std::string>(nb::handle((PyObject*)Py_TYPE(v.ptr())).attr("__name__")) + ")";
}

}  // namespace sash_py
