#include "modes.hpp"

namespace bench {
namespace {
template <class K>
using Window = AnyOrder<K, false>;
const bool added = add_coarse<Window>("classic_tree", Sliced{});
}  // namespace
}  // namespace bench
