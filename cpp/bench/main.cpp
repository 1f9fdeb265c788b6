#include <cstdio>
#include <map>

#include "registry.hpp"

namespace bench {
namespace {

constexpr const char* kHelp =
    R"(sash-bench MODE key=value ...      runs one benchmark and prints one JSON object
sash-bench help

What is printed: "ns", the cost of a round or item in each chunk (CPU time); "checksum", the same for
all structures that were given the same work; "rounds"; "bytes" of the structure at the end; "rss_kb",
the most memory this process had; with monoid=counted "combines" of each kind of operation in all
rounds; with latency=1 "latency" in ns: bins (16 for each power of two), quantiles, and "clock", what
reading the clock adds to each of them.

Structures   recalc subtract_on_evict two_stacks two_stacks_lite daba daba_lite flat_fit amta
             reactive_aggregator b_int classic_tree finger_tree; trees take leaf= and fanout=
Monoids      sum geomean bloom max counted stddev mean argmax mincount relvar (default: sum)
Everywhere   parts (of some milliseconds) seed=1; sizes are digits or 2^k

rounds       structure= monoid= n= d=0 rounds=1000000 delay=exact|random latency=0
             Fill with n entries; a round evicts the oldest, inserts one, and queries. Trees insert it
             d entries before the youngest, or by a random delay of up to d; d=n is the far end.
             two_stacks flips once in n rounds: take a multiple of n.
bulk         structure= monoid= n= m= d=0 rounds= evict=bulk|single insert=bulk|single
             part=all|evict|insert latency=0 free=later|once
             A round evicts the m oldest, inserts m (d entries before the youngest), queries once.
             Cost per item; latency of each timed part. free=once: the program sash-bench-once.
fill_drain   structure= monoid= n= rounds=1000000
             Insert and query up to n entries, then evict them all; cost per inserted item.
oscillate    structure= monoid= n= low=n/2 rounds=1000000
             The window swings between low and n; cost per insert or evict, each with a query.
share        structure=finger_tree|classic_tree monoid=sum|geomean|bloom n= small= d=small/2
             how=twin|range rounds=1000000
             Rounds on a window of n and its youngest `small` entries: two trees, or one and a range.
coarse       structure= monoid=sum|geomean|bloom n= g= how=vanilla|slices|recompute rounds=1000000
             A query every g rows; slices: those g are one entry; recompute: recalc. Cost per row.
replay       structure= monoid=sum|geomean|bloom|max|relvar file= span= evict=bulk|single latency=0
             shape=0 times=3
             Rows of a file (int64 count, int64 times, float64 values) as they arrived; after each the
             window is (youngest - span, youngest]. Of so many times, each part
             as fast as it ever was. shape=1 adds histograms
             "window", "evicted" and "distance": bin 0 is none, bin k is from 2^(k-1) below 2^k.
tuples       file= windows=SIZE,SIZE,... delay=0 how=buckets|flat_fat|finger_tree latency=0 times=3
             Sums of tumbling windows, told when youngest - delay reaches their end. Cost per row.
buckets      the same with how=buckets
)";

using Runs = std::map<std::string, std::map<std::string, std::map<std::string, Run>>>;
Runs& runs() {
  static Runs all;
  return all;
}

template <class Map>
auto& found(Map& map, const std::string& what, const std::string& name) {
  const auto at = map.find(name);
  if (at != map.end()) return at->second;
  std::vector<std::string> there;
  for (const auto& [key, value] : map) there.push_back(key);
  throw Usage(what + " " + name + " is not known; there are: " + joined(there));
}

// Each mode's own arguments; those that run one structure have more.
const std::map<std::string, std::vector<std::string>> kArguments{
    {"rounds", {"n", "d", "rounds", "delay", "latency"}},
    {"bulk", {"n", "m", "d", "rounds", "evict", "insert", "part", "free", "latency"}},
    {"fill_drain", {"n", "rounds"}},
    {"oscillate", {"n", "low", "rounds"}},
    {"share", {"n", "small", "d", "how", "rounds"}},
    {"coarse", {"n", "g", "how", "rounds"}},
    {"replay", {"file", "span", "evict", "latency", "shape", "times"}},
    {"tuples", {"file", "windows", "delay", "how", "latency", "times"}},
    {"buckets", {"file", "windows", "delay", "latency", "times"}},
};

Run run_of(const std::string& mode, const Args& args) {
  if (mode == "buckets") return find_run("tuples", "buckets", "sum");
  if (mode == "tuples")
    return find_run(mode, args.one_of("how", {"buckets", "flat_fat", "finger_tree"}), "sum");
  const bool recompute = mode == "coarse" && args.text("how", "") == "recompute";
  return find_run(mode, recompute ? "recalc" : args.text("structure"), args.text("monoid", "sum"));
}

int run(int count, char** words) {
  const std::string mode = count < 2 ? "help" : words[1];
  if (mode == "help") return std::fputs(kHelp, stdout), 0;
  std::vector<std::string> known = found(kArguments, "mode", mode);
  known.push_back("parts");
  if (mode != "tuples" && mode != "buckets")
    known.insert(known.end(), {"structure", "monoid", "leaf", "fanout", "seed"});
  const Args args(count - 2, words + 2, known);
  Report report;
  run_of(mode, args)(args, report);
  if (args.flag("shape")) add_shape(args, report);
  std::puts(report.json().c_str());
  return 0;
}

}  // namespace

void add_run(const std::string& mode, const std::string& structure, const std::string& monoid,
             Run run) {
  runs()[mode][structure][monoid] = run;
}
Run find_run(const std::string& mode, const std::string& structure, const std::string& monoid) {
  auto& structures = found(runs(), "mode", mode);
  return found(found(structures, "for this mode, structure", structure),
               "for this mode and structure, monoid", monoid);
}

}  // namespace bench

int main(int count, char** words) {
  try {
    return bench::run(count, words);
  } catch (const bench::Usage& error) {
    std::fprintf(stderr, "sash-bench: %s\n", error.what());
    return 2;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "sash-bench: %s\n", error.what());
    return 1;
  }
}
