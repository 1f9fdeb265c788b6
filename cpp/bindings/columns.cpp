// Column helpers for Python, and aggregates as plain functions over bytes (for products with Python
// aggregates, and for checking their laws).
#include <nanobind/ndarray.h>

#include "families.hpp"
#include "port.hpp"

namespace sash_py {
namespace {

using Ints = nb::ndarray<const std::int64_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Floats = nb::ndarray<const double, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

nb::object words_of(std::size_t n, auto&& at) {
  auto data = std::make_unique_for_overwrite<Word[]>(n + 1);
  {
    nb::gil_scoped_release release;
    for (std::size_t i = 0; i < n; ++i) data[i] = at(i);
  }
  Word* raw = data.release();
  nb::capsule owner(raw, [](void* p) noexcept { delete[] static_cast<Word*>(p); });
  return nb::cast(nb::ndarray<nb::numpy, Word, nb::ndim<1>>(raw, {n}, owner));
}

Word hashed(sash::Hash128 h, bool coupons) { return coupons ? sash::coupon(h) : h.low; }

// A record's aggregates as functions on byte strings that hold one state each.
class BytesMonoid {
 public:
  explicit BytesMonoid(nb::dict spec) : spec_(parse_spec(spec)), m_(spec_.layout), port_(spec_) {}

  nb::bytes lift(nb::handle v) {
    std::vector<Word> e(sash::slot_cells(m_)), s(e.size());
    m_.start(e.data(), e.size());
    m_.lift(e.data(), port_.read(v));
    m_.to_state(s.data(), e.data());
    return bytes(s);
  }
  nb::bytes identity() {
    std::vector<Word> s(sash::slot_cells(m_));
    m_.set_identity(s.data());
    return bytes(s);
  }
  nb::bytes combine(nb::bytes a, nb::bytes b) {
    std::vector<Word> x = words(a), y = words(b);
    m_.combine(x.data(), x.data(), y.data());
    return bytes(x);
  }
  nb::object lower(nb::bytes s) {
    const std::vector<Word> x = words(s);
    return port_.lower(m_, x.data());
  }

 private:
  nb::bytes bytes(const std::vector<Word>& s) const {
    return nb::bytes(reinterpret_cast<const char*>(s.data()), m_.state_cells() * sizeof(Word));
  }
  std::vector<Word> words(nb::bytes b) const {
    if (b.size() != m_.state_cells() * sizeof(Word))
      raise(PyExc_ValueError,
            "these bytes are not a state of this aggregate: " + std::to_string(b.size()) +
                " instead of " + std::to_string(m_.state_cells() * sizeof(Word)));
    std::vector<Word> s(sash::slot_cells(m_));
    std::memcpy(s.data(), b.c_str(), b.size());
    if (!m_.sound(s.data()))
      raise(PyExc_ValueError, "these bytes are not a state of this aggregate");
    return s;
  }
  Spec spec_;
  sash::Record m_;
  Port<sash::Record> port_;
};

}  // namespace

void bind_columns(nb::module_& m) {
  m.def("hash_ints", [](Ints v, bool coupons) {
    return words_of(v.shape(0),
                    [&](std::size_t i) { return hashed(sash::hash_of(v.data()[i]), coupons); });
  });
  m.def("hash_floats", [](Floats v, bool coupons) {
    return words_of(v.shape(0),
                    [&](std::size_t i) { return hashed(sash::hash_of(v.data()[i]), coupons); });
  });
  m.def(
      "hash_value", [](nb::handle v, bool coupon) { return hashed(to_hash(v), coupon); },
      nb::arg("value"), nb::arg("coupon") = false);
  m.def("bloom_contains", [](nb::bytes filter, std::int64_t hashes, nb::handle v) {
    const sash::Params p{{static_cast<std::int64_t>(filter.size()) * 8, hashes}, {}};
    std::vector<Word> words(filter.size() / sizeof(Word));
    std::memcpy(words.data(), filter.c_str(), words.size() * sizeof(Word));
    return sash::bloom::contains(words.data(), to_hash(v).low, p);
  });
  nb::class_<BytesMonoid>(m, "BytesMonoid")
      .def(nb::init<nb::dict>())
      .def("lift", &BytesMonoid::lift, nb::arg("value").none())
      .def("identity", &BytesMonoid::identity)
      .def("combine", &BytesMonoid::combine)
      .def("lower", &BytesMonoid::lower);
}

}  // namespace sash_py
