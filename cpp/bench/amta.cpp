#include "sash/amta.hpp"

#include "modes.hpp"

namespace bench {
namespace {
template <class K>
using Window = InOrder<K, sash::Amta<typename K::M>, 24>;
const bool added = add_windows<Window>("amta", Main{}) && add_replays<Window>("amta", Replayed{}) &&
                   add_coarse<Window>("amta", Sliced{});
}  // namespace
}  // namespace bench
