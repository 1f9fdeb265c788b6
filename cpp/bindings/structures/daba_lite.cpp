#include "sash/daba_lite.hpp"

#include "../structures.hpp"
#include "../timed_window.hpp"

namespace sash_py {
SASH_INSTANTIATE(template, sash::DabaLite, all);
}  // namespace sash_py
