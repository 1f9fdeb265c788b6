// Adds a structure's runs in the modes that it takes part in.
#pragma once

#include "bulk.hpp"
#include "coarse.hpp"
#include "registry.hpp"
#include "replay.hpp"
#include "rounds.hpp"
#include "share.hpp"
#include "swings.hpp"

namespace bench {

template <template <class> class W, class... K>
bool add_windows(const char* name, Kinds<K...>) {
  (add_run("rounds", name, K::name, rounds<W<K>>), ...);
  (add_run("bulk", name, K::name, bulk<W<K>>), ...);
  (add_run("fill_drain", name, K::name, fill_drain<W<K>>), ...);
  (add_run("oscillate", name, K::name, oscillate<W<K>>), ...);
  return true;
}
template <template <class> class W, class... K>
bool add_replays(const char* name, Kinds<K...>) {
  (add_run("replay", name, K::name, replay<W<K>>), ...);
  return true;
}
template <template <class> class W, class... K>
bool add_shares(const char* name, Kinds<K...>) {
  (add_run("share", name, K::name, share<W<K>>), ...);
  return true;
}
template <template <class> class W, class... K>
bool add_coarse(const char* name, Kinds<K...>) {
  (add_run("coarse", name, K::name, coarse<W<K>, W<SlicesOf<K>>, K>), ...);
  return true;
}

}  // namespace bench
