#include "sash/daba.hpp"

#include "../structures.hpp"
#include "../timed_window.hpp"

namespace sash_py {
SASH_INSTANTIATE(template, sash::Daba, few);
}  // namespace sash_py
