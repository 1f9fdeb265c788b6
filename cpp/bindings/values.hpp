// Python values to cells and back.
#pragma once

#include "errors.hpp"
#include "sash/hashing.hpp"
#include "sash/scalars.hpp"
#include "spec.hpp"

namespace sash_py {

// Not a float: what else can be taken for one.
double number_of(nb::handle v);

inline double to_double(nb::handle v) {
  if (PyFloat_CheckExact(v.ptr())) [[likely]]
    return PyFloat_AS_DOUBLE(v.ptr());
  return number_of(v);
}
std::int64_t to_int(nb::handle v);
// A time: a 64-bit integer and nothing that has to be guessed into one.
std::int64_t to_time(nb::handle v);
sash::Hash128 to_hash(nb::handle v);
Word to_cell(nb::handle v, char code);

inline nb::object from_word(Word w, char code) {
  switch (code) {
    case 'f':
      return nb::steal(PyFloat_FromDouble(std::bit_cast<double>(w)));
    case 'b':
      return nb::bool_(w != 0);
    default:
      return nb::steal(PyLong_FromLongLong(std::bit_cast<std::int64_t>(w)));
  }
}

// The cells of one live row, read from what the user passed to insert().
class RowReader {
 public:
  explicit RowReader(const Spec& spec) : spec_(&spec), cells_(spec.cells.size()) {}
  sash::Row read(nb::handle v);

 private:
  void check_shape(nb::handle v) const;
  nb::object pick(nb::handle v, int source) const;

  const Spec* spec_;
  std::vector<Word> cells_;
};

}  // namespace sash_py
