// How costs grow: the same operations on windows of several sizes (benchmarks/guard_growth.py).
#include <string>
#include <vector>

#include "sash/reactive_aggregator.hpp"
#include "workload.hpp"

using namespace sash;

namespace guard {
namespace {

// Evicts entries by their handles from a window in which long runs of entries have been evicted: of
// the places between its ends, the middle three quarters are holes.
void evict_by_handle(std::size_t n) {
  constexpr std::size_t kEvicted = 64;
  ReactiveAggregator<Sum> window(Sum{});
  std::vector<std::uint64_t> handles;
  for (std::size_t i = 0; i < n; ++i) {
    handles.push_back(window.next_ticket());
    window.insert(value(i));
  }
  for (std::size_t i = n / 8; i < n - n / 8; ++i) window.evict(handles[i]);
  const std::string name =
      "ReactiveAggregator: evict by handle among holes at " + std::to_string(n);
  std::size_t evicted = 0;
  measure(name.c_str(), kEvicted, [&] {  // near both ends in turns, never the ends themselves
    for (std::size_t i = 1; i <= kEvicted / 2; ++i) {
      evicted += window.evict(handles[2 * i]);
      evicted += window.evict(handles[n - 1 - 2 * i]);
    }
    return static_cast<double>(evicted);
  });
  expect(evicted == kEvicted && window.size() == 2 * (n / 8) - kEvicted, name.c_str());
}

}  // namespace

void run() {
  for (const std::size_t n : {1024u, 4096u, 16384u}) evict_by_handle(n);
}

}  // namespace guard
