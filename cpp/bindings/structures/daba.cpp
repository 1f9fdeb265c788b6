#include "sash/daba.hpp"

#include "../structures.hpp"
#include "../timed_window.hpp"

namespace sash_py {
SASH_INSTANTIATE(sash::Daba);
}  // namespace sash_py
