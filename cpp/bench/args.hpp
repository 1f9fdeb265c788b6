// The arguments of a run: key=value, each known to its mode.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <map>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace bench {

// Wrong arguments: told on stderr, exit status 2.
struct Usage : std::invalid_argument {
  using std::invalid_argument::invalid_argument;
};

std::string joined(const std::vector<std::string>& words);

class Args {
 public:
  // Refuses what is no key=value, and keys that are not among `known`.
  Args(int count, char** words, const std::vector<std::string>& known);

  bool has(const std::string& key) const { return given_.contains(key); }
  std::string text(const std::string& key) const;
  std::string text(const std::string& key, const std::string& otherwise) const;
  // One of a few words, the first of which is the default.
  std::string one_of(const std::string& key, std::initializer_list<const char*> words) const;
  std::size_t size(const std::string& key) const;  // digits, or 2^k
  std::size_t size(const std::string& key, std::size_t otherwise) const;
  std::size_t at_least(const std::string& key, std::size_t least) const;
  bool flag(const std::string& key) const { return size(key, 0) != 0; }
  // In how many parts so many rounds of some items are measured: of some milliseconds each.
  std::size_t parts(std::size_t rounds, std::size_t items) const;
  std::uint64_t seed() const { return size("seed", 1); }

 private:
  std::map<std::string, std::string> given_;
};

}  // namespace bench
