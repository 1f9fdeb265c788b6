#include "sash/two_stacks_lite.hpp"

#include "../structures.hpp"
#include "../timed_window.hpp"

namespace sash_py {
SASH_INSTANTIATE(sash::TwoStacksLite);
}  // namespace sash_py
