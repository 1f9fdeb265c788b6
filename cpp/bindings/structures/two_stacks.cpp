#include "sash/two_stacks.hpp"

#include "../structures.hpp"
#include "../timed_window.hpp"

namespace sash_py {
SASH_INSTANTIATE(template, sash::TwoStacks, few);
}  // namespace sash_py
