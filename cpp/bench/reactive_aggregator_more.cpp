#include "sash/reactive_aggregator.hpp"

#include "modes.hpp"

namespace bench {
namespace {
template <class K>
using Window = InOrder<K, sash::ReactiveAggregator<typename K::M>, 24>;
const bool added = add_windows<Window>("reactive_aggregator", More{});
}  // namespace
}  // namespace bench
