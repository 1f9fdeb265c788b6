// The trees for Python: _core.Tree, with fingers or without.
#include <nanobind/stl/string.h>

#include "families.hpp"
#include "holder.hpp"
#include "tree_window.hpp"

namespace sash_py {

extern template std::unique_ptr<AnyTree> make_tree<true>(std::shared_ptr<const Spec>, unsigned,
                                                         unsigned);
extern template std::unique_ptr<AnyTree> make_tree<false>(std::shared_ptr<const Spec>, unsigned,
                                                          unsigned);

namespace {

using TreeHolder = Holder<AnyTree>;

std::int64_t time_of_end(TreeHolder& w, bool oldest) {
  const auto use = w.use();
  refuse_empty(use->size(), oldest ? "no oldest time in" : "no youngest time in");
  return oldest ? use->oldest() : use->youngest();
}

}  // namespace

void bind_trees(nb::module_& m) {
  nb::class_<TreeHolder>(m, "Tree", nb::type_slots(collected<AnyTree>()))
      .def("__init__",
           [](TreeHolder* self, bool fingers, nb::dict dict, unsigned leaf, unsigned fanout) {
             auto spec = std::make_shared<const Spec>(parse_spec(dict));
             new (self) TreeHolder{};
             self->impl = fingers ? make_tree<true>(spec, leaf, fanout)
                                  : make_tree<false>(spec, leaf, fanout);
           })
      .def(
          "insert",
          [](TreeHolder& w, nb::handle time, nb::handle value) {
            w.use()->insert(to_time(time), value);
          },
          nb::arg().none(), nb::arg().none())
      .def("evict",
           [](TreeHolder& w) {
             const auto use = w.use();
             refuse_empty(use->size(), "evict from");
             use->evict();
           })
      .def(
          "evict", [](TreeHolder& w, nb::handle time) { return w.use()->evict_at(to_time(time)); },
          nb::arg().none())
      .def(
          "bulk_evict",
          [](TreeHolder& w, nb::handle time) {
            const std::size_t dropped = w.use()->bulk_evict(to_time(time));
            return_memory(dropped);
            return dropped;
          },
          nb::arg().none())
      .def("query", [](TreeHolder& w) { return w.use()->query(); })
      .def(
          "query",
          [](TreeHolder& w, nb::handle from, nb::handle to) {
            return w.use()->query_between(to_time(from), to_time(to));
          },
          nb::arg().none(), nb::arg().none())
      .def("__len__", [](TreeHolder& w) { return w.use()->size(); })
      .def_prop_ro("oldest", [](TreeHolder& w) { return time_of_end(w, true); })
      .def_prop_ro("youngest", [](TreeHolder& w) { return time_of_end(w, false); })
      .def("clear",
           [](TreeHolder& w) {
             const auto use = w.use();
             const std::size_t size = use->size();
             use->clear();
             return_memory(size);
           })
      .def("check_invariants", [](TreeHolder& w) { w.use()->check_invariants(); })
      .def("_insert_many", [](TreeHolder& w, TimeColumn times,
                              nb::handle columns) { w.use()->insert_many(times, columns); })
      .def("_slide", [](TreeHolder& w, TimeColumn times, nb::handle columns, std::int64_t span,
                        bool by_count) { return w.use()->slide(times, columns, span, by_count); })
      .def("_items", [](TreeHolder& w) { return w.use()->items(); })
      .def("_bytes", [](TreeHolder& w) { return w.use()->bytes(); })
      .def("_height", [](TreeHolder& w) { return w.use()->height(); })
      .def("_shape",
           [](TreeHolder& w) {
             const auto shape = w.use()->shape();
             return nb::make_tuple(shape.leaf, shape.fanout);
           })
      .def("_save", [](TreeHolder& w) { return w.use()->save(); })
      .def("_load", [](TreeHolder& w, nb::bytes numbers, nb::bytes times, nb::bytes cells,
                       nb::list objects) { w.use()->load(numbers, times, cells, objects); });
}

}  // namespace sash_py
