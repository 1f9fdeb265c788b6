#include "rows.hpp"

#include <cmath>
#include <fstream>

#include "args.hpp"

namespace bench {

std::vector<double> random_values(std::uint64_t seed) {
  std::vector<double> values(65521);
  for (double& v : values) {  // splitmix64
    seed += 0x9e3779b97f4a7c15ULL;
    std::uint64_t z = seed;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
    v = static_cast<double>(((z ^ (z >> 31)) >> 44) + 1);
  }
  return values;
}

Rows read_rows(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw Usage("file=" + path + " cannot be read");
  std::int64_t count = 0;
  const auto read = [&](auto* to, std::int64_t n) {
    const auto bytes = n * static_cast<std::int64_t>(sizeof *to);
    if (!file.read(reinterpret_cast<char*>(to), bytes))
      throw Usage("file=" + path + " ends too early: it needs a count, times and values");
  };
  read(&count, 1);
  if (count < 1 || count > std::int64_t{1} << 32)
    throw Usage("file=" + path + " begins with " + std::to_string(count) + ", no count of rows");
  Rows rows;
  rows.times.resize(static_cast<std::size_t>(count));
  rows.values.resize(static_cast<std::size_t>(count));
  read(rows.times.data(), count);
  read(rows.values.data(), count);
  for (double& v : rows.values)
    if (!std::isfinite(v)) v = 0;  // it has no whole number
  return rows;
}

}  // namespace bench
