#include "sash/recalc.hpp"

#include "modes.hpp"

namespace bench {
namespace {
template <class K>
using Window = InOrder<K, sash::Recalc<typename K::M>, 0>;
const bool added = add_windows<Window>("recalc", Main{}) && add_windows<Window>("recalc", More{}) &&
                   add_replays<Window>("recalc", Replayed{}) &&
                   add_coarse<Window>("recalc", Sliced{});
}  // namespace
}  // namespace bench
