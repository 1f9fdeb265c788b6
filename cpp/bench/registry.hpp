// The runs by mode, structure and monoid. Each structure's file adds its own.
#pragma once

#include "args.hpp"
#include "report.hpp"

namespace bench {

using Run = void (*)(const Args&, Report&);

void add_run(const std::string& mode, const std::string& structure, const std::string& monoid,
             Run run);
// The run of that name, or an error that says which there are.
Run find_run(const std::string& mode, const std::string& structure, const std::string& monoid);

// Adds the sizes of windows and evictions of a replay, and how many rows stood before late ones.
void add_shape(const Args& args, Report& report);

}  // namespace bench
