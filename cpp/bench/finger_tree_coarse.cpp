#include "modes.hpp"

namespace bench {
namespace {
template <class K>
using Window = AnyOrder<K, true>;
const bool added = add_coarse<Window>("finger_tree", Sliced{});
}  // namespace
}  // namespace bench
