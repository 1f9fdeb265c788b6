#include "values.hpp"

namespace sash_py {

double number_of(nb::handle v) {
  PyObject* o = v.ptr();
  if (PyUnicode_Check(o) || PyBytes_Check(o))
    raise(PyExc_TypeError, "expected a number, got " + shown(v) +
                               "; pass dtype=object to the aggregate for other values");
  const double d = PyFloat_AsDouble(o);
  if (d == -1.0 && PyErr_Occurred()) {
    if (PyErr_ExceptionMatches(PyExc_OverflowError)) {
      PyErr_Clear();
      raise(PyExc_OverflowError, shown(v) + " is too large for a float64");
    }
    PyErr_Clear();
    raise(PyExc_TypeError, "expected a number, got " + shown(v) +
                               "; pass dtype=object to the aggregate for other values");
  }
  return d;
}

std::int64_t to_int(nb::handle v) {
  PyObject* o = v.ptr();
  nb::object index;
  if (!PyLong_Check(o)) {
    index = nb::steal(PyNumber_Index(o));
    if (!index.is_valid()) {
      PyErr_Clear();
      raise(PyExc_TypeError, "expected an integer, got " + shown(v) +
                                 "; use dtype=float for an aggregate over floats");
    }
    o = index.ptr();
  }
  int overflow = 0;
  const long long i = PyLong_AsLongLongAndOverflow(o, &overflow);
  if (overflow != 0)
    raise(PyExc_OverflowError,
          shown(v) + " does not fit in a 64-bit integer; use dtype=float or dtype=object");
  return i;
}

std::int64_t to_time(nb::handle v) {
  PyObject* o = v.ptr();
  nb::object index;
  if (!PyLong_CheckExact(o)) [[unlikely]] {
    index = PyBool_Check(o) ? nb::object() : nb::steal(PyNumber_Index(o));
    if (!index.is_valid()) {
      PyErr_Clear();
      raise(PyExc_TypeError, "a time is an integer, not " + shown(v));
    }
    o = index.ptr();
  }
  int overflow = 0;
  const long long t = PyLong_AsLongLongAndOverflow(o, &overflow);
  if (overflow != 0)
    raise(PyExc_OverflowError, "time " + shown(v) + " does not fit in a 64-bit integer");
  return t;
}

sash::Hash128 to_hash(nb::handle v) {
  PyObject* o = v.ptr();
  if (PyFloat_Check(o)) return sash::hash_of(PyFloat_AS_DOUBLE(o));
  if (PyUnicode_Check(o)) {
    Py_ssize_t n = 0;
    const char* s = PyUnicode_AsUTF8AndSize(o, &n);
    if (s == nullptr) throw nb::python_error();
    return sash::murmur3({s, static_cast<std::size_t>(n)});
  }
  if (PyBytes_Check(o))
    return sash::murmur3({PyBytes_AS_STRING(o), static_cast<std::size_t>(PyBytes_GET_SIZE(o))});
  if (PyIndex_Check(o)) return sash::hash_of(to_int(v));
  raise(PyExc_TypeError, "expected a number, string or bytes to hash, got " + shown(v));
}

namespace {
bool to_truth(nb::handle v) {
  const int truth = PyObject_IsTrue(v.ptr());
  if (truth < 0) throw nb::python_error();
  return truth == 1;
}
}  // namespace

Word to_cell(nb::handle v, char code) {
  switch (code) {
    case 'f':
      return std::bit_cast<Word>(to_double(v));
    case 'i':
      return std::bit_cast<Word>(to_int(v));
    case 'b':
      return to_truth(v);
    case 'h':
      return to_hash(v).low;
    case 'c':
      return sash::coupon(to_hash(v));
    default:
      return 0;
  }
}

sash::Row RowReader::read(nb::handle v) {
  Word valid = 0;
  const std::size_t sources = spec_->sources.size();
  if (sources > 1 || (sources == 1 && !spec_->sources[0].is_none())) check_shape(v);
  for (std::size_t i = 0; i < cells_.size(); ++i) {
    const nb::object value = pick(v, spec_->cells[i].source);
    cells_[i] = 0;
    if (value.is_none()) continue;
    cells_[i] = to_cell(value, spec_->cells[i].code);
    valid |= Word{1} << i;
  }
  return {cells_.data(), valid};
}

void RowReader::check_shape(nb::handle v) const {
  if (PyDict_Check(v.ptr())) return;
  const std::size_t sources = spec_->sources.size();
  if (sources == 1 && !PyTuple_Check(v.ptr())) return;
  if (PyTuple_Check(v.ptr()) && static_cast<std::size_t>(PyTuple_GET_SIZE(v.ptr())) == sources)
    return;
  std::string names;
  for (const nb::object& s : spec_->sources)
    names += (names.empty() ? "" : ", ") + (s.is_none() ? "?" : nb::cast<std::string>(nb::str(s)));
  raise(PyExc_TypeError, "expected a tuple of " + std::to_string(sources) + " values (" + names +
                             ") or a dict of them, got " + shown(v));
}

nb::object RowReader::pick(nb::handle v, int source) const {
  const nb::object& name = spec_->sources[static_cast<std::size_t>(source)];
  if (PyDict_Check(v.ptr()) && !name.is_none()) {
    PyObject* item = PyDict_GetItemWithError(v.ptr(), name.ptr());
    if (item == nullptr) {
      if (PyErr_Occurred()) throw nb::python_error();
      raise(PyExc_KeyError, "the row has no column " + nb::cast<std::string>(nb::repr(name)));
    }
    return nb::borrow(item);
  }
  if (PyTuple_Check(v.ptr()) && (spec_->sources.size() > 1 || !name.is_none()))
    return nb::borrow(PyTuple_GET_ITEM(v.ptr(), source));
  return nb::borrow(v);
}

}  // namespace sash_py
