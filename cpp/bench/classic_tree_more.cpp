#include "modes.hpp"

namespace bench {
namespace {
template <class K>
using Window = AnyOrder<K, false>;
const bool added = add_windows<Window>("classic_tree", More{});
}  // namespace
}  // namespace bench
