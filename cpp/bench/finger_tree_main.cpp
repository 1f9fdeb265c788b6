#include "modes.hpp"

namespace bench {
namespace {
template <class K>
using Window = AnyOrder<K, true>;
const bool added = add_windows<Window>("finger_tree", Main{}) &&
                   add_replays<Window>("finger_tree", Replayed{}) &&
                   add_shares<Window>("finger_tree", Sliced{});
}  // namespace
}  // namespace bench
