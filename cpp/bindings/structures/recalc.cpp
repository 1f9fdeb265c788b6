#include "sash/recalc.hpp"

#include "../structures.hpp"
#include "../timed_window.hpp"

namespace sash_py {
SASH_INSTANTIATE(sash::Recalc);
}  // namespace sash_py
