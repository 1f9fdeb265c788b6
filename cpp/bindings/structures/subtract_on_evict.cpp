#include "sash/subtract_on_evict.hpp"

#include "../structures.hpp"
#include "../timed_window.hpp"

namespace sash_py {

namespace {
// The structure for every monoid that is invertible: by its type, or by what it says of itself.
template <class Made, template <class> class Of>
std::unique_ptr<Made> make(SpecPtr spec) {
  std::unique_ptr<Made> made;
  with_monoid<Scalars::few>(*spec, [&](const auto& m) {
    using M = std::remove_cvref_t<decltype(m)>;
    bool invertible = sash::Invertible<M>;
    if constexpr (requires { m.invertible(); }) invertible = m.invertible();
    if (!invertible)
      raise(PyExc_TypeError, "this aggregate has no inverse: SubtractOnEvict cannot evict from it");
    if constexpr (sash::Invertible<M>)
      made = std::make_unique<Of<sash::SubtractOnEvict<M>>>(spec, m);
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
