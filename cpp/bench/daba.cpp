#include "sash/daba.hpp"

#include "modes.hpp"

namespace bench {
namespace {
template <class K>
using Window = InOrder<K, sash::Daba<typename K::M>, 8>;
const bool added = add_windows<Window>("daba", Main{}) && add_windows<Window>("daba", More{}) &&
                   add_replays<Window>("daba", Replayed{}) && add_coarse<Window>("daba", Sliced{});
}  // namespace
}  // namespace bench
