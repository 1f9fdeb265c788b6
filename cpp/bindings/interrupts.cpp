#include "interrupts.hpp"

#include <cstdint>
#include <limits>
#include <stdexcept>

#include "errors.hpp"
#include "families.hpp"
#include "sash/poll.hpp"

namespace sash_py {
namespace {

// ---- the test hook --------------------------------------------------------------------------
std::atomic<bool> counting{false};
std::atomic<std::int64_t> checks{0}, fatal{0};

// Makes every loop check at each row and the n-th check raise KeyboardInterrupt; 0 ends that.
// Returns how many checks there were since the last call.
std::int64_t poll_after(std::int64_t n) {
  if (n < 0) raise(PyExc_ValueError, "n must be at least 0");
  sash::Poll::pace = n == 0 ? sash::Pace{} : sash::Pace{1, 1, 0, {}};
  fatal = n;
  counting = n != 0;
  return checks.exchange(0);
}

void count_check() {
  if (++checks != fatal) return;
  nb::gil_scoped_acquire held;
  raise(PyExc_KeyboardInterrupt, "check " + std::to_string(fatal) + " was to raise");
}

// ---- flags of workers -----------------------------------------------------------------------
thread_local const Stop* working_under = nullptr;

[[noreturn]] void stopped() {
  nb::gil_scoped_acquire held;
  raise(PyExc_RuntimeError, "the call that this part of the work belongs to has ended");
}

}  // namespace

void check_signals() {
  if (counting) count_check();
  if (working_under != nullptr) {  // not the main thread: handlers do not run here
    if (working_under->is_set()) stopped();
    return;
  }
  nb::gil_scoped_acquire held;
  if (PyErr_CheckSignals() != 0) throw nb::python_error();
}

// One call at a time. Native, so that no signal's handler runs between `with` and the flag.
class Turn {
 public:
  explicit Turn(std::string busy) : busy_(std::move(busy)) {}
  void enter() {
    if (taken_) raise(PyExc_RuntimeError, busy_);
    taken_ = true;
  }
  void exit() { taken_ = false; }

 private:
  std::string busy_;
  bool taken_ = false;
};

void bind_interrupts(nb::module_& m) {
  nb::class_<Turn>(m, "Turn", "Lets one call in at a time, and raises in others.")
      .def(nb::init<std::string>(), nb::arg("busy"))
      .def("__enter__", &Turn::enter)
      .def(
          "__exit__", [](Turn& t, nb::args) { t.exit(); },
          nb::sig("def __exit__(self, *args: object) -> None"));
  m.def("_poll_after", &poll_after, nb::arg("n"),
        "For tests: let native loops check at each row, and the n-th check raise; 0: as usual.\n\n"
        "Returns the number of checks since the last call.");
  nb::class_<Stop>(m, "Stop",
                   "A flag that ends the native loops of the threads that work under it.")
      .def(nb::init<>())
      .def("set", &Stop::set)
      .def(
          "__enter__",
          [](Stop& s) -> Stop& {
            working_under = &s;
            return s;
          },
          nb::rv_policy::reference)
      .def(
          "__exit__", [](Stop&, nb::args) { working_under = nullptr; },
          nb::sig("def __exit__(self, *args: object) -> None"));
}

}  // namespace sash_py
