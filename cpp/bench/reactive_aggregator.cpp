#include "sash/reactive_aggregator.hpp"

#include "modes.hpp"

namespace bench {
namespace {
template <class K>
using Window = InOrder<K, sash::ReactiveAggregator<typename K::M>, 24>;
const bool added = add_windows<Window>("reactive_aggregator", Main{}) &&
                   add_replays<Window>("reactive_aggregator", Replayed{}) &&
                   add_coarse<Window>("reactive_aggregator", Sliced{});
}  // namespace
}  // namespace bench
