#include "sash/daba_lite.hpp"

#include "../structures.hpp"
#include "../timed_window.hpp"

namespace sash_py {
SASH_INSTANTIATE(sash::DabaLite);
}  // namespace sash_py
