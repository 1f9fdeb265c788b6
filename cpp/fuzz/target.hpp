// A fuzz target: bytes become choices of a trial (cpp/tests), which compares with brute force.
//
// Each target is one source file that gives run(). It is linked with libFuzzer, with
// replay.cpp (files, as a test) or with random.cpp (choices by seed).
#pragma once

#include <string>
#include <vector>

#include "../tests/trial.hpp"

namespace sash::fuzz {

struct Done {
  std::string what;
  trials::Tally tally;
};
// One run of at most so many choices, of which the first says what is tried.
Done run(trials::Dice& dice, std::size_t choices);

}  // namespace sash::fuzz
