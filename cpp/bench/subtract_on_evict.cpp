#include "sash/subtract_on_evict.hpp"

#include "modes.hpp"

namespace bench {
namespace {
template <class K>
using Window = InOrder<K, sash::SubtractOnEvict<typename K::M>, 0>;
const bool added = add_windows<Window>("subtract_on_evict", Kinds<Sum, Mean, Counted>{}) &&
                   add_replays<Window>("subtract_on_evict", Kinds<Sum>{});
}  // namespace
}  // namespace bench
