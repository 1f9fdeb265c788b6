#include "sash/flat_fit.hpp"

#include "../structures.hpp"
#include "../timed_window.hpp"

namespace sash_py {
SASH_INSTANTIATE(template, sash::FlatFit, few);
}  // namespace sash_py
