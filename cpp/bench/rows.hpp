// What goes in: pseudo random values, or the rows of a file.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace bench {

// Whole numbers from 1 to 2^20, the same for the same seed. How many they are is prime, so that no
// window is a whole number of turns of them.
std::vector<double> random_values(std::uint64_t seed);

struct Rows {
  std::vector<std::int64_t> times;
  std::vector<double> values;
};
// A file of an int64, how many rows, then their int64 times, then their float64 values.
Rows read_rows(const std::string& path);

}  // namespace bench
