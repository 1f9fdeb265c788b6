#include "sash/subtract_on_evict.hpp"

#include "../structures.hpp"
#include "../timed_window.hpp"

namespace sash_py {

namespace {
// The structure for every monoid that is invertible by its type; the Python edge has refused
// records and Python monoids without an inverse.
template <class Made, template <class> class Of>
std::unique_ptr<Made> make(SpecPtr spec) {
  std::unique_ptr<Made> made;
  with_monoid<Scalars::few>(*spec, [&](const auto& m) {
    using M = std::remove_cvref_t<decltype(m)>;
    if constexpr (sash::Invertible<M>)
      made = std::make_unique<Of<sash::SubtractOnEvict<M>>>(spec, m);
    else
      raise(PyExc_TypeError, spec->name + " has no inverse: SubtractOnEvict cannot evict from it");
  });
  return made;
}
}  // namespace

std::unique_ptr<AnyWindow> make_subtract_on_evict(SpecPtr spec) {
  return make<AnyWindow, WindowOf>(std::move(spec));
}
std::unique_ptr<AnyTimed> make_timed_subtract_on_evict(SpecPtr spec) {
  return make<AnyTimed, TimedOf>(std::move(spec));
}

}  // namespace sash_py
