// Runs the inputs in files through a target, one after the other, without a fuzzer.
// Usage: replay [file ...]
#include <fstream>
#include <iterator>

#include "target.hpp"

int main(int argc, char** argv) {
  sash::trials::Tally all;
  for (int i = 1; i < argc; ++i) {
    sash::trials::source = argv[i];
    std::ifstream file(argv[i], std::ios::binary);
    if (!file) sash::trials::fail("cannot be read", "replay");
    const std::vector<char> bytes(std::istreambuf_iterator<char>(file), {});
    sash::trials::Dice dice(reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size());
    try {
      all += sash::fuzz::run(dice, bytes.size()).tally;
    } catch (const std::exception& error) {
      sash::trials::fail(error.what(), "replay");
    }
  }
  std::printf("%s: %d inputs, %lu operations, %lu undone on the way\n", argv[0], argc - 1,
              all.operations, all.undone);
}
