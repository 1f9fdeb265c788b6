// The structures by name. Each is compiled in a file of its own (structures/), so that a change
// rebuilds one of them.
#pragma once

#include "timed_window.hpp"
#include "window.hpp"

namespace sash_py {

using SpecPtr = std::shared_ptr<const Spec>;

// `declaration` is `template` where a structure is compiled, `extern template` where it is used.
#define SASH_INSTANTIATE(declaration, S, scalars)                                   \
  declaration std::unique_ptr<AnyWindow> make_window<S, Scalars::scalars>(SpecPtr); \
  declaration std::unique_ptr<AnyTimed> make_timed<S, Scalars::scalars>(SpecPtr)

std::unique_ptr<AnyWindow> make_subtract_on_evict(SpecPtr spec);
std::unique_ptr<AnyTimed> make_timed_subtract_on_evict(SpecPtr spec);

}  // namespace sash_py
