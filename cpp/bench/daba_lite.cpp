#include "sash/daba_lite.hpp"

#include "modes.hpp"

namespace bench {
namespace {
template <class K>
using Window = LiteWindow<K, sash::DabaLite>;
const bool added =
    add_windows<Window>("daba_lite", Main{}) && add_windows<Window>("daba_lite", More{}) &&
    add_replays<Window>("daba_lite", Replayed{}) && add_coarse<Window>("daba_lite", Sliced{});
}  // namespace
}  // namespace bench
