#include "sash/flat_fit.hpp"

#include "../structures.hpp"
#include "../timed_window.hpp"

namespace sash_py {
SASH_INSTANTIATE(sash::FlatFit);
}  // namespace sash_py
