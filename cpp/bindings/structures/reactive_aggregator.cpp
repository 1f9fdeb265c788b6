#include "sash/reactive_aggregator.hpp"

#include "../structures.hpp"
#include "../timed_window.hpp"

namespace sash_py {
template std::unique_ptr<AnyWindow> make_window<sash::ReactiveAggregator, Scalars::few>(SpecPtr);
}  // namespace sash_py
