#include "args.hpp"

#include <algorithm>
#include <charconv>

namespace bench {

namespace {
std::size_t number(const std::string& key, std::string_view text) {
  const bool power = text.starts_with("2^");
  const std::string_view digits = power ? text.substr(2) : text;
  std::size_t value = 0;
  const auto [end, wrong] = std::from_chars(digits.begin(), digits.end(), value);
  if (wrong != std::errc{} || end != digits.end() || (power && value > 62))
    throw Usage(key + "=" + std::string(text) + " is no whole number; write digits, or 2^k");
  return power ? std::size_t{1} << value : value;
}
}  // namespace

std::string joined(const std::vector<std::string>& words) {
  std::string all;
  for (const std::string& word : words) all += (all.empty() ? "" : ", ") + word;
  return all;
}

Args::Args(int count, char** words, const std::vector<std::string>& known) {
  for (int i = 0; i < count; ++i) {
    const std::string word = words[i];
    const std::size_t equals = word.find('=');
    if (equals == std::string::npos) throw Usage(word + " is no argument: write key=value");
    const std::string key = word.substr(0, equals);
    if (std::find(known.begin(), known.end(), key) == known.end())
      throw Usage("this mode has no argument " + key + "; it has: " + joined(known));
    given_[key] = word.substr(equals + 1);
  }
}

std::string Args::text(const std::string& key) const {
  if (!has(key)) throw Usage(key + "= is missing");
  return given_.at(key);
}
std::string Args::text(const std::string& key, const std::string& otherwise) const {
  return has(key) ? given_.at(key) : otherwise;
}

std::string Args::one_of(const std::string& key, std::initializer_list<const char*> words) const {
  const std::vector<std::string> all(words.begin(), words.end());
  const std::string word = text(key, all.front());
  if (std::find(all.begin(), all.end(), word) == all.end())
    throw Usage(key + "=" + word + " is not known; there are: " + joined(all));
  return word;
}

std::size_t Args::size(const std::string& key) const { return number(key, text(key)); }
std::size_t Args::size(const std::string& key, std::size_t otherwise) const {
  return has(key) ? size(key) : otherwise;
}
std::size_t Args::at_least(const std::string& key, std::size_t least) const {
  const std::size_t value = size(key);
  if (value < least)
    throw Usage(key + "=" + std::to_string(value) + " is too small: at least " +
                std::to_string(least));
  return value;
}

std::size_t Args::parts(std::size_t rounds, std::size_t items) const {
  constexpr std::size_t least = 1 << 14, most = 64;
  const std::size_t fit = std::clamp(rounds * items / least, std::size_t{1}, most);
  return std::max<std::size_t>(1, std::min(rounds, size("parts", fit)));
}

}  // namespace bench
