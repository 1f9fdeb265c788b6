// What libFuzzer calls.
#include "target.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t n) {
  sash::trials::Dice dice(bytes, n);
  sash::fuzz::run(dice, n);
  return 0;
}
