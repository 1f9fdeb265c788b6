// The in-order windows for Python: _core.Window and _core.TimedWindow, over any structure.
#include <nanobind/stl/string.h>

#include "direct_calls.hpp"
#include "families.hpp"
#include "holder.hpp"
#include "sash/amta.hpp"
#include "sash/daba.hpp"
#include "sash/daba_lite.hpp"
#include "sash/flat_fit.hpp"
#include "sash/reactive_aggregator.hpp"
#include "sash/recalc.hpp"
#include "sash/two_stacks.hpp"
#include "sash/two_stacks_lite.hpp"
#include "structures.hpp"

namespace sash_py {

SASH_INSTANTIATE(extern template, sash::Recalc, few);
SASH_INSTANTIATE(extern template, sash::TwoStacks, few);
SASH_INSTANTIATE(extern template, sash::TwoStacksLite, all);
SASH_INSTANTIATE(extern template, sash::Daba, few);
SASH_INSTANTIATE(extern template, sash::DabaLite, all);
SASH_INSTANTIATE(extern template, sash::FlatFit, few);
SASH_INSTANTIATE(extern template, sash::Amta, few);
extern template std::unique_ptr<AnyWindow> make_window<sash::ReactiveAggregator, Scalars::few>(
    SpecPtr);

namespace {

std::unique_ptr<AnyWindow> window_of(const std::string& structure, SpecPtr spec) {
  if (structure == "Recalc") return make_window<sash::Recalc, Scalars::few>(spec);
  if (structure == "SubtractOnEvict") return make_subtract_on_evict(spec);
  if (structure == "TwoStacks") return make_window<sash::TwoStacks, Scalars::few>(spec);
  if (structure == "TwoStacksLite") return make_window<sash::TwoStacksLite, Scalars::all>(spec);
  if (structure == "Daba") return make_window<sash::Daba, Scalars::few>(spec);
  if (structure == "DabaLite") return make_window<sash::DabaLite, Scalars::all>(spec);
  if (structure == "FlatFit") return make_window<sash::FlatFit, Scalars::few>(spec);
  if (structure == "Amta") return make_window<sash::Amta, Scalars::few>(spec);
  if (structure == "ReactiveAggregator")
    return make_window<sash::ReactiveAggregator, Scalars::few>(spec);
  raise(PyExc_ValueError, "no structure is called " + structure);
}

std::unique_ptr<AnyTimed> timed_of(const std::string& structure, SpecPtr spec) {
  if (structure == "Recalc") return make_timed<sash::Recalc, Scalars::few>(spec);
  if (structure == "SubtractOnEvict") return make_timed_subtract_on_evict(spec);
  if (structure == "TwoStacks") return make_timed<sash::TwoStacks, Scalars::few>(spec);
  if (structure == "TwoStacksLite") return make_timed<sash::TwoStacksLite, Scalars::all>(spec);
  if (structure == "Daba") return make_timed<sash::Daba, Scalars::few>(spec);
  if (structure == "DabaLite") return make_timed<sash::DabaLite, Scalars::all>(spec);
  if (structure == "FlatFit") return make_timed<sash::FlatFit, Scalars::few>(spec);
  if (structure == "Amta") return make_timed<sash::Amta, Scalars::few>(spec);
  raise(PyExc_ValueError, "no in-order structure is called " + structure);
}

using WindowHolder = Holder<AnyWindow>;
using TimedHolder = Holder<AnyTimed>;

void bind_window(nb::module_& m) {
  nb::class_<WindowHolder>(m, "Window", nb::type_slots(collected_and_direct<AnyWindow>()))
      .def("__init__",
           [](WindowHolder* self, const std::string& structure, nb::dict spec) {
             new (self) WindowHolder{};
             self->impl = window_of(structure, std::make_shared<const Spec>(parse_spec(spec)));
           })
      .def("__len__", [](WindowHolder& w) { return w.use()->size(); })
      .def("clear",
           [](WindowHolder& w) {
             const auto use = w.use();
             const std::size_t size = use->size();
             use->clear();
             return_memory(size);
           })
      .def("check_invariants", [](WindowHolder& w) { w.use()->check_invariants(); })
      .def("_insert_many", [](WindowHolder& w, nb::handle columns,
                              std::size_t rows) { w.use()->insert_many(columns, rows); })
      .def("_evict_many",
           [](WindowHolder& w, std::size_t k) {
             const auto use = w.use();
             if (k > use->size())
               raise(PyExc_IndexError, "evict " + std::to_string(k) + " entries from a window of " +
                                           std::to_string(use->size()));
             use->evict_many(k);
             return_memory(k);
           })
      .def("_slide", [](WindowHolder& w, nb::handle columns, std::size_t rows,
                        std::size_t size) { return w.use()->slide(columns, rows, size); })
      .def("_items", [](WindowHolder& w) { return w.use()->items(); })
      .def("_partials", [](WindowHolder& w) { return w.use()->partials(); })
      .def("_bytes", [](WindowHolder& w) { return w.use()->bytes(); })
      .def("_save", [](WindowHolder& w) { return w.use()->save(); })
      .def("_load", [](WindowHolder& w, nb::bytes numbers, nb::bytes times, nb::bytes cells,
                       nb::list objects) { w.use()->load(numbers, times, cells, objects); })
      // In one use of the window, so that no other thread comes between the two.
      .def(
          "_insert_ticket",
          [](WindowHolder& w, nb::handle value) {
            const auto use = w.use();
            const std::uint64_t ticket = use->next_ticket();
            use->insert(value);
            return ticket;
          },
          nb::arg().none())
      .def("_evict_ticket",
           [](WindowHolder& w, std::uint64_t ticket) { return w.use()->evict_ticket(ticket); });
}

void bind_timed(nb::module_& m) {
  nb::class_<TimedHolder>(m, "TimedWindow", nb::type_slots(collected<AnyTimed>()))
      .def("__init__",
           [](TimedHolder* self, const std::string& structure, nb::dict spec) {
             new (self) TimedHolder{};
             self->impl = timed_of(structure, std::make_shared<const Spec>(parse_spec(spec)));
           })
      .def(
          "insert",
          [](TimedHolder& w, nb::handle time, nb::handle value) {
            w.use()->insert(to_time(time), value);
          },
          nb::arg().none(), nb::arg().none())
      .def("evict",
           [](TimedHolder& w) {
             const auto use = w.use();
             refuse_empty(use->size(), "evict from");
             use->evict();
           })
      .def(
          "bulk_evict",
          [](TimedHolder& w, nb::handle time) {
            const std::size_t dropped = w.use()->bulk_evict(to_time(time));
            return_memory(dropped);
            return dropped;
          },
          nb::arg().none())
      .def("query", [](TimedHolder& w) { return w.use()->query(); })
      .def("__len__", [](TimedHolder& w) { return w.use()->size(); })
      .def_prop_ro("oldest",
                   [](TimedHolder& w) {
                     const auto use = w.use();
                     refuse_empty(use->size(), "no oldest time in");
                     return use->oldest();
                   })
      .def_prop_ro("youngest",
                   [](TimedHolder& w) {
                     const auto use = w.use();
                     refuse_empty(use->size(), "no youngest time in");
                     return use->youngest();
                   })
      .def("clear",
           [](TimedHolder& w) {
             const auto use = w.use();
             const std::size_t size = use->size();
             use->clear();
             return_memory(size);
           })
      .def("check_invariants", [](TimedHolder& w) { w.use()->check_invariants(); })
      .def("_insert_many", [](TimedHolder& w, TimeColumn times,
                              nb::handle columns) { w.use()->insert_many(times, columns); })
      .def("_slide", [](TimedHolder& w, TimeColumn times, nb::handle columns, std::int64_t span,
                        bool by_count) { return w.use()->slide(times, columns, span, by_count); })
      .def("_items", [](TimedHolder& w) { return w.use()->items(); })
      .def("_bytes", [](TimedHolder& w) { return w.use()->bytes(); })
      .def("_save", [](TimedHolder& w) { return w.use()->save(); })
      .def("_load", [](TimedHolder& w, nb::bytes numbers, nb::bytes times, nb::bytes cells,
                       nb::list objects) { w.use()->load(numbers, times, cells, objects); });
}

}  // namespace

void bind_windows(nb::module_& m) {
  bind_window(m);
  bind_timed(m);
}

}  // namespace sash_py
