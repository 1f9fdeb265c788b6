#include "modes.hpp"

namespace bench {
namespace {
template <class K>
using Window = AnyOrder<K, false>;
const bool added = add_windows<Window>("classic_tree", Main{}) &&
                   add_replays<Window>("classic_tree", Replayed{}) &&
                   add_shares<Window>("classic_tree", Sliced{});
}  // namespace
}  // namespace bench
