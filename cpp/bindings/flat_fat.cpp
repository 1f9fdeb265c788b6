// FlatFat for Python: a fixed number of places with bulk updates, prefixes and suffixes.
#include "sash/flat_fat.hpp"

#include <nanobind/stl/vector.h>

#include "families.hpp"
#include "holder.hpp"
#include "window.hpp"

namespace sash_py {
namespace {

class AnyFlatFat {
 public:
  virtual ~AnyFlatFat() = default;
  virtual void update(const std::vector<std::size_t>& places, nb::list values) = 0;
  virtual nb::object aggregate() = 0;
  virtual nb::object prefix(std::size_t place) = 0;
  virtual nb::object suffix(std::size_t place) = 0;
  virtual std::size_t capacity() const = 0;
  virtual void check_invariants() const = 0;
  virtual const Spec& spec() const = 0;
};

template <class M>
class FlatFatOf final : public AnyFlatFat {
  using Cell = typename M::Cell;

 public:
  FlatFatOf(std::shared_ptr<const Spec> spec, const M& m, std::size_t capacity)
      : spec_(std::move(spec)), port_(*spec_), m_(m), fat_(m_, capacity), out_(m_) {}

  // All values are lifted before the first place changes, and until then a signal ends the call;
  // when a combine raises, the places get their former states back.
  void update(const std::vector<std::size_t>& places, nb::list values) override {
    sash::States<M> fresh(m_);
    sash::Poll poll;
    for (nb::handle v : values) {
      poll();
      Cell* cell = fresh.add();
      m_.lift(cell, port_.read(v));
      m_.to_state(cell, cell);
    }
    sash::Places written;
    for (const std::size_t place : places) written.add(place);
    const auto exchange = [&] {
      for (std::size_t i = 0; i < places.size(); ++i)
        std::swap_ranges(fresh[i], fresh[i] + m_.state_cells(), fat_.leaf(places[i]));
    };
    exchange();
    try {
      fat_.refresh(written);
    } catch (...) {
      exchange();
      throw;
    }
  }
  nb::object aggregate() override {
    fat_.aggregate(out_.get());
    return take_lowered(port_, m_, out_.get());
  }
  nb::object prefix(std::size_t place) override {
    fat_.prefix(place, out_.get());
    return take_lowered(port_, m_, out_.get());
  }
  nb::object suffix(std::size_t place) override {
    fat_.suffix(place, out_.get());
    return take_lowered(port_, m_, out_.get());
  }
  std::size_t capacity() const override { return fat_.capacity(); }
  void check_invariants() const override { fat_.check_invariants(); }
  const Spec& spec() const override { return *spec_; }

 private:
  std::shared_ptr<const Spec> spec_;
  Port<M> port_;
  M m_;
  sash::FlatFat<M> fat_;
  sash::Held<M> out_;
};

using FlatFatHolder = Holder<AnyFlatFat>;

}  // namespace

void bind_flat_fat(nb::module_& m) {
  nb::class_<FlatFatHolder>(m, "FlatFat", nb::type_slots(collected<AnyFlatFat>()))
      .def("__init__",
           [](FlatFatHolder* self, nb::dict spec_dict, std::size_t capacity) {
             auto spec = std::make_shared<const Spec>(parse_spec(spec_dict));
             new (self) FlatFatHolder{};
             with_monoid<Scalars::few>(*spec, [&](const auto& monoid) {
               using M = std::remove_cvref_t<decltype(monoid)>;
               self->impl = std::make_unique<FlatFatOf<M>>(spec, monoid, capacity);
             });
           })
      .def("_update", [](FlatFatHolder& f, const std::vector<std::size_t>& places,
                         nb::list values) { f.use()->update(places, values); })
      .def("aggregate", [](FlatFatHolder& f) { return f.use()->aggregate(); })
      .def("_prefix", [](FlatFatHolder& f, std::size_t place) { return f.use()->prefix(place); })
      .def("_suffix", [](FlatFatHolder& f, std::size_t place) { return f.use()->suffix(place); })
      .def_prop_ro("capacity", [](FlatFatHolder& f) { return f.use()->capacity(); })
      .def("check_invariants", [](FlatFatHolder& f) { f.use()->check_invariants(); });
}

}  // namespace sash_py
