#include "sash/flat_fit.hpp"

#include "modes.hpp"

namespace bench {
namespace {
template <class K>
using Window = InOrder<K, sash::FlatFit<typename K::M>, 12>;
const bool added =
    add_windows<Window>("flat_fit", Main{}) && add_windows<Window>("flat_fit", More{}) &&
    add_replays<Window>("flat_fit", Replayed{}) && add_coarse<Window>("flat_fit", Sliced{});
}  // namespace
}  // namespace bench
