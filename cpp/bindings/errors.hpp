// Raising Python exceptions with a full sentence.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>

#include <exception>
#include <string>

namespace sash_py {
namespace nb = nanobind;

[[noreturn]] inline void raise(PyObject* type, const std::string& message) {
  PyErr_SetString(type, message.c_str());
  throw nb::python_error();
}

// Sets the Python exception that one of C++ stands for.
void translate(const std::exception_ptr& p);

// A value as a user would recognise it: its repr, cut short, and its type.
inline std::string shown(nb::handle v) {
  std::string text = nb::cast<std::string>(nb::repr(v));
  if (text.size() > 60) text = text.substr(0, 57) + "...";
  return text + " (" +
         nb::cast<std::string>(nb::handle((PyObject*)Py_TYPE(v.ptr())).attr("__name__")) + ")";
}

}  // namespace sash_py
