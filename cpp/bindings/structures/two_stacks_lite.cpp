#include "sash/two_stacks_lite.hpp"

#include "../structures.hpp"
#include "../timed_window.hpp"

namespace sash_py {
SASH_INSTANTIATE(template, sash::TwoStacksLite, all);
}  // namespace sash_py
