#include "b_int.hpp"

#include "modes.hpp"

namespace bench {
namespace {
template <class K>
using Window = InOrder<K, BaseIntervals<typename K::M>, 16>;
const bool added = add_windows<Window>("b_int", Main{}) && add_windows<Window>("b_int", More{});
}  // namespace
}  // namespace bench
