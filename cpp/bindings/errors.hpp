// Raising Python exceptions with a full sentence.
#pragma once

#include <nanobind/nanobind.h>

#include <exception>
#include <string>
#include <string_view>

namespace sash_py {
namespace nb = nanobind;

[[noreturn]] void raise(PyObject* type, std::string_view message);

// Sets the Python exception that one of C++ stands for.
void translate(const std::exception_ptr& p);

// A value as a user would recognise it: its repr, cut short, and its type.
std::string shown(nb::handle v);

}  // namespace sash_py
