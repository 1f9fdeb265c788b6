#include "report.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <fstream>

namespace bench {

namespace {
std::string number(const char* format, double v) {
  char text[64];
  std::snprintf(text, sizeof text, format, v);
  return std::isfinite(v) ? text : "null";
}
std::string quoted(const std::string& text) { return "\"" + text + "\""; }

// {"key": value, ...} or [value, ...] piece by piece.
class Pieces {
 public:
  explicit Pieces(const char* ends) : ends_(ends) {}
  void add(const std::string& piece) { all_ += (all_.empty() ? "" : ", ") + piece; }
  void add(const std::string& key, const std::string& value) { add(quoted(key) + ": " + value); }
  std::string text() const { return ends_[0] + all_ + ends_[1]; }

 private:
  const char* ends_;
  std::string all_;
};
}  // namespace

// What it takes to read the clock twice: a part of every latency.
static std::uint64_t clock_ticks() {
  std::array<std::uint64_t, 1001> took;
  for (std::uint64_t& t : took) {
    const std::uint64_t before = ticks();
    t = ticks() - before;
  }
  std::nth_element(took.begin(), took.begin() + took.size() / 2, took.end());
  return took[took.size() / 2];
}

double Latency::middle(unsigned bin) {
  if (bin < 32) return bin;
  const unsigned shift = bin / 16 - 1;
  return (static_cast<double>(bin - 16 * shift) + 0.5) * std::ldexp(1.0, static_cast<int>(shift));
}

double Latency::quantile(double q) const {
  const auto wanted = static_cast<std::uint64_t>(std::ceil(q * static_cast<double>(count_)));
  std::uint64_t seen = 0;
  for (unsigned b = 0; b < bins_.size(); ++b) {
    seen += bins_[b];
    if (seen >= wanted && seen != 0)
      return std::clamp(middle(b), static_cast<double>(least_), static_cast<double>(most_));
  }
  return static_cast<double>(most_);
}

std::string Latency::json(double ns_per_tick) const {
  const auto ns = [&](double t) { return number("%.2f", t * ns_per_tick); };
  Pieces bins("{}"), quantiles("{}"), all("{}");
  for (unsigned b = 0; b < bins_.size(); ++b)
    if (bins_[b] != 0) bins.add(ns(middle(b)), std::to_string(bins_[b]));
  quantiles.add("min", ns(static_cast<double>(least_)));
  for (const char* q : {"0.5", "0.99", "0.999", "0.99999"})
    quantiles.add(q, ns(quantile(std::stod(q))));
  quantiles.add("max", ns(static_cast<double>(most_)));
  quantiles.add("mean", ns(static_cast<double>(total_) / static_cast<double>(count_)));
  all.add("bins", bins.text());
  all.add("quantiles", quantiles.text());
  all.add("clock", ns(static_cast<double>(clock_ticks())));
  return all.text();
}

std::string Checksum::text() const {
  return is_whole ? std::to_string(whole) : number("%.6g", total);
}

double Report::ns_per_tick() const {
#ifdef __x86_64__
  return static_cast<double>(nanoseconds(CLOCK_MONOTONIC) - began_ns_) /
         static_cast<double>(ticks() - began_ticks_);
#else
  return 1;
#endif
}

namespace {
// The most memory this program had. getrusage would tell its parent's where that had more.
std::uint64_t most_kb() {
  std::ifstream status("/proc/self/status");
  for (std::string word; status >> word;) {
    std::uint64_t kb = 0;
    if (word == "VmHWM:" && status >> kb) return kb;
  }
  return 0;
}
}  // namespace

std::string Report::json() const {
  Pieces costs("[]"), all("{}");
  for (const double cost : ns) costs.add(number("%.4f", cost));
  all.add("ns", costs.text());
  all.add("checksum", quoted(checksum.text()));
  all.add("rounds", std::to_string(rounds));
  all.add("bytes", std::to_string(bytes));
  all.add("rss_kb", std::to_string(most_kb()));
  if (counted) {
    Pieces each("{}");
    each.add("insert", std::to_string(combines.insert));
    each.add("evict", std::to_string(combines.evict));
    each.add("query", std::to_string(combines.query));
    each.add("rounds", std::to_string(rounds));
    all.add("combines", each.text());
  }
  if (timed) all.add("latency", latency.json(ns_per_tick()));
  if (!shape.empty()) {
    Pieces shapes("{}");
    for (const auto& [name, histogram] : shape) {
      Pieces bins("{}");
      for (const auto& [bin, count] : histogram)
        bins.add(std::to_string(bin), std::to_string(count));
      shapes.add(name, bins.text());
    }
    all.add("shape", shapes.text());
  }
  return all.text();
}

}  // namespace bench
