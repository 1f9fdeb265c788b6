#include "sash/recalc.hpp"

#include "../structures.hpp"
#include "../timed_window.hpp"

namespace sash_py {
SASH_INSTANTIATE(template, sash::Recalc, few);
}  // namespace sash_py
