#include "sash/amta.hpp"

#include "../structures.hpp"
#include "../timed_window.hpp"

namespace sash_py {
SASH_INSTANTIATE(sash::Amta);
}  // namespace sash_py
