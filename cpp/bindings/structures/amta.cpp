#include "sash/amta.hpp"

#include "../structures.hpp"
#include "../timed_window.hpp"

namespace sash_py {
SASH_INSTANTIATE(template, sash::Amta, few);
}  // namespace sash_py
