#include "sash/two_stacks_lite.hpp"

#include "modes.hpp"

namespace bench {
namespace {
template <class K>
using Window = LiteWindow<K, sash::TwoStacksLite>;
const bool added = add_windows<Window>("two_stacks_lite", Main{}) &&
                   add_windows<Window>("two_stacks_lite", More{}) &&
                   add_replays<Window>("two_stacks_lite", Replayed{}) &&
                   add_coarse<Window>("two_stacks_lite", Sliced{});
}  // namespace
}  // namespace bench
