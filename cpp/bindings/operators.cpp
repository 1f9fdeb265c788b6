// The window operator for Python: _core.Operator, and _core.KeyIndex for its keys.
#include "families.hpp"
#include "holder.hpp"
#include "sash/slicing/key_index.hpp"
#include "window_operator.hpp"

namespace sash_py {
namespace {

using OperatorHolder = Holder<AnyOperator>;
using Times = std::vector<std::int64_t>;

slicing::Settings settings_of(std::int64_t lateness, std::optional<std::int64_t> delay, int emit,
                              int store) {
  return {.lateness = lateness,
          .delay = delay ? *delay : slicing::kNever,
          .emit = static_cast<slicing::Emit>(emit),
          .store = static_cast<slicing::Choice>(store)};
}

using KeyColumns = std::vector<TimeColumn>;

// A user's function that cuts rows into windows, given arrays of their times and marks.
auto starts_by(Function function) {
  return [function](const std::int64_t* times, const std::int64_t* marks, std::size_t n) {
    nb::gil_scoped_acquire held;
    const std::size_t columns = nb::cast<std::size_t>(function->attr("width"));
    nb::object answer =
        (*function)(array_of(std::vector<std::int64_t>(times, times + n)),
                    array_of(std::vector<std::int64_t>(marks, marks + n * columns)));
    const auto bytes = nb::cast<ByteColumn>(answer);
    if (bytes.shape(0) != n) raise(PyExc_ValueError, "split: one truth value for each row");
    return std::vector<char>(bytes.data(), bytes.data() + n);
  };
}

std::size_t rows_of(const slicing::KeyIndex& index, const KeyColumns& columns) {
  if (columns.size() != index.width()) raise(PyExc_ValueError, "other columns than the keys have");
  for (const TimeColumn& c : columns)
    if (c.shape(0) != columns[0].shape(0)) raise(PyExc_ValueError, "keys differ in length");
  return columns.empty() ? 0 : columns[0].shape(0);
}

nb::tuple find_keys(slicing::KeyIndex& index, const KeyColumns& columns) {
  const std::size_t n = rows_of(index, columns), width = index.width();
  std::vector<std::uint32_t> ids(n), fresh;
  {
    nb::gil_scoped_release release;
    std::vector<std::int64_t> key(width);
    try {
      for (std::size_t i = 0; i < n; ++i) {
        constexpr std::size_t ahead = 12;
        if (width == 1 && i + ahead < n) index.prefetch(columns[0].data() + i + ahead);
        for (std::size_t c = 0; c < width; ++c) key[c] = columns[c].data()[i];
        if (fresh.size() == fresh.capacity()) fresh.reserve(2 * fresh.size() + 8);
        bool is_new;
        ids[i] = index.find_or_add(key.data(), is_new);
        if (is_new) fresh.push_back(ids[i]);
      }
    } catch (...) {  // no memory: nobody would know these keys
      for (const std::uint32_t id : fresh) index.forget(id);
      throw;
    }
  }
  return nb::make_tuple(array_of(std::move(ids)), array_of(std::move(fresh)));
}

nb::object words_of(const slicing::KeyIndex& index, const IdColumn& ids, std::size_t column) {
  std::vector<std::int64_t> words(ids.shape(0));
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (!index.known(ids.data()[i])) raise(PyExc_KeyError, "no key has this number");
    words[i] = index.words(ids.data()[i])[column];
  }
  return array_of(std::move(words));
}

}  // namespace

void bind_operators(nb::module_& m) {
  nb::class_<OperatorHolder>(m, "Operator", nb::type_slots(collected<AnyOperator>()))
      .def("__init__",
           [](OperatorHolder* self, nb::dict dict, std::int64_t lateness,
              std::optional<std::int64_t> delay, int emit, int store) {
             auto spec = std::make_shared<const Spec>(parse_spec(dict));
             new (self) OperatorHolder{};
             self->impl = make_operator(spec, settings_of(lateness, delay, emit, store));
           })
      .def("add_window",
           [](OperatorHolder& w, int kind, int id, std::int64_t size, std::int64_t slide,
              std::int64_t offset, std::optional<std::int64_t> since) {
             const auto added = w.use()->add_window({static_cast<slicing::Window::Kind>(kind),
                                                     id,
                                                     size,
                                                     slide,
                                                     offset,
                                                     since ? *since : slicing::kNever,
                                                     {},
                                                     {}});
             return added == slicing::kNever ? std::nullopt : std::optional(added);
           })
      .def(
          "add_row_window",
          [](OperatorHolder& w, int kind, int id, std::int64_t rows, std::int64_t step, double size,
             std::size_t marks, nb::object function, std::optional<std::int64_t> since) {
            slicing::RowWindow window{static_cast<slicing::RowWindow::Kind>(kind),
                                      id,
                                      rows,
                                      step,
                                      size,
                                      marks,
                                      since ? *since : slicing::kNever,
                                      {}};
            Function cuts;
            if (!function.is_none()) {
              cuts = std::make_shared<nb::object>(function);
              window.starts = starts_by(cuts);
            }
            const auto added = w.use()->add_row_window(std::move(window), cuts);
            return added == slicing::kNever ? std::nullopt : std::optional(added);
          },
          nb::arg(), nb::arg(), nb::arg(), nb::arg(), nb::arg(), nb::arg(), nb::arg().none(),
          nb::arg().none())
      .def("list_window", [](OperatorHolder& w, int id, Times starts,
                             Times ends) { w.use()->list_window(id, starts, ends); })
      .def("remove_window", [](OperatorHolder& w, int id) { w.use()->remove_window(id); })
      .def("process",
           [](OperatorHolder& w, std::optional<IdColumn> ids, std::size_t keys, TimeColumn times,
              nb::handle columns, std::vector<TimeColumn> marks,
              std::optional<std::int64_t> ceiling, nb::object show) {
             return w.use()->process(ids, keys, times, columns, marks, ceiling, show);
           })
      .def("advance", [](OperatorHolder& w, std::int64_t watermark,
                         nb::object show) { return w.use()->advance(watermark, show); })
      .def("query", [](OperatorHolder& w, std::uint32_t id, std::int64_t from,
                       std::int64_t to) { return w.use()->query(id, from, to); })
      .def("windows", [](OperatorHolder& w, IdColumn ids) { return w.use()->windows(ids); })
      .def("cuts",
           [](OperatorHolder& w, std::uint32_t id, std::int64_t t) { return w.use()->cuts(id, t); })
      .def("slices", [](OperatorHolder& w, std::uint32_t id) { return w.use()->slices(id); })
      .def("live", [](OperatorHolder& w, std::uint32_t id) { return w.use()->live(id); })
      .def("time",
           [](OperatorHolder& w, int which) {
             if (which < 0 || which > 4) raise(PyExc_IndexError, "there are five times");
             return w.use()->time(which);
           })
      .def("count", [](OperatorHolder& w, bool late) { return w.use()->count(late); })
      .def("commits", [](OperatorHolder& w) { return w.use()->commits(); })
      .def("journalled", [](OperatorHolder& w) { return w.use()->journalled(); })
      .def("facts", [](OperatorHolder& w) { return w.use()->facts(); })
      .def("take_forgotten", [](OperatorHolder& w) { return w.use()->take_forgotten(); })
      .def("save", [](OperatorHolder& w, bool all) { return w.use()->save(all); })
      .def("saved", [](OperatorHolder& w) { w.use()->saved(); })
      .def("unsaved", [](OperatorHolder& w) { w.use()->unsaved(); })
      .def("load",
           [](OperatorHolder& w, nb::bytes numbers, nb::bytes times, nb::bytes cells,
              nb::list objects, IdColumn saved,
              IdColumn here) { w.use()->load(numbers, times, cells, objects, saved, here); })
      .def("drop", [](OperatorHolder& w, IdColumn ids) { w.use()->drop(ids); })
      .def("settle", [](OperatorHolder& w) { w.use()->settle(); })
      .def("follow", [](OperatorHolder& w) { w.use()->follow(); })
      .def("slices_out", [](OperatorHolder& w) { return w.use()->slices_out(); })
      .def("merge",
           [](OperatorHolder& w, std::optional<IdColumn> ids, std::size_t keys, TimeColumn firsts,
              TimeColumn lasts, nb::bytes cells, nb::list objects, nb::object show) {
             return w.use()->merge(ids, keys, firsts, lasts, cells, objects, show);
           });

  nb::class_<slicing::KeyIndex>(m, "KeyIndex")
      .def(nb::init<std::size_t>())
      .def("find", &find_keys)
      .def("words", &words_of)
      .def("forget",
           [](slicing::KeyIndex& index, const IdColumn& ids) {
             for (std::size_t i = 0; i < ids.shape(0); ++i) index.forget(ids.data()[i]);
           })
      .def("ids",
           [](const slicing::KeyIndex& index) {
             std::vector<std::uint32_t> ids;
             for (std::uint32_t id = 0; id < index.room(); ++id)
               if (index.known(id)) ids.push_back(id);
             return array_of(std::move(ids));
           })
      .def("__len__", &slicing::KeyIndex::size)
      .def_prop_ro("room", &slicing::KeyIndex::room);
}

}  // namespace sash_py
