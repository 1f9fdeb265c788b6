// The finger tree whose dropped nodes are freed at once, for a program of its own.
#define SASH_FREE_AT_ONCE

#include "bulk.hpp"
#include "registry.hpp"

namespace bench {
namespace {
template <class K>
bool add() {
  return add_run("bulk", "finger_tree", K::name, bulk<AnyOrder<K, true>>), true;
}
const bool added = add<Sum>() && add<GeoMean>() && add<Bloom>();
}  // namespace
}  // namespace bench
