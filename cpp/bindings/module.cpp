#include <nanobind/nanobind.h>

#include "errors.hpp"
#include "families.hpp"
#include "sash/scalars.hpp"
#include "sash/timed.hpp"

namespace sash_py {
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
}  // namespace sash_py

NB_MODULE(_core, m) {
  m.doc() = "The native core of Sash. Private: use the names of the sash package.";
  nanobind::register_exception_translator(
      [](const std::exception_ptr& p, void*) { sash_py::translate(p); });
  // A window in a module's globals outlives the interpreter's last collection; that is no leak.
  nanobind::set_leak_warnings(false);
  sash_py::bind_windows(m);
  sash_py::bind_trees(m);
  sash_py::bind_flat_fat(m);
  sash_py::bind_columns(m);
  sash_py::bind_rolling(m);
  sash_py::bind_operators(m);
}
