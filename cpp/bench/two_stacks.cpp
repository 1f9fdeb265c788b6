#include "sash/two_stacks.hpp"

#include "modes.hpp"

namespace bench {
namespace {
template <class K>
using Window = InOrder<K, sash::TwoStacks<typename K::M>, 8>;
const bool added =
    add_windows<Window>("two_stacks", Main{}) && add_windows<Window>("two_stacks", More{}) &&
    add_replays<Window>("two_stacks", Replayed{}) && add_coarse<Window>("two_stacks", Sliced{});
}  // namespace
}  // namespace bench
