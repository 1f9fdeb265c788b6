#include <nanobind/nanobind.h>

#include "errors.hpp"
#include "families.hpp"
#include "interrupts.hpp"
#include "sash/poll.hpp"

NB_MODULE(_core, m) {
  m.doc() = "The native core of Sash. Private: use the names of the sash package.";
  nanobind::register_exception_translator(
      [](const std::exception_ptr& p, void*) { sash_py::translate(p); });
  sash::Poll::check = sash_py::check_signals;
  // A window in a module's globals outlives the interpreter's last collection; that is no leak.
  nanobind::set_leak_warnings(false);
  sash_py::bind_windows(m);
  sash_py::bind_trees(m);
  sash_py::bind_flat_fat(m);
  sash_py::bind_columns(m);
  sash_py::bind_rolling(m);
  sash_py::bind_operators(m);
  sash_py::bind_interrupts(m);
}
