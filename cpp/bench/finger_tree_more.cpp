#include "modes.hpp"

namespace bench {
namespace {
template <class K>
using Window = AnyOrder<K, true>;
const bool added = add_windows<Window>("finger_tree", More{});
}  // namespace
}  // namespace bench
