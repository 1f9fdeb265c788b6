// The shape of a replay: counted by a tree of counts, as rows of equal time share an entry.
#include <algorithm>
#include <bit>

#include "registry.hpp"
#include "rows.hpp"
#include "sash/finger_tree.hpp"
#include "sash/scalars.hpp"

namespace bench {

void add_shape(const Args& args, Report& report) {
  const Rows rows = read_rows(args.text("file"));
  const auto span = static_cast<std::int64_t>(args.at_least("span", 1));
  sash::FingerTree<sash::Scalar<sash::Count>> counts(sash::Scalar<sash::Count>{});
  std::int64_t out = 0;
  const auto size = [&] { return counts.query(&out), out; };
  const auto add = [&](const char* name, std::int64_t value) {
    ++report.shape[name][static_cast<unsigned>(std::bit_width(static_cast<std::uint64_t>(value)))];
  };
  std::int64_t youngest = rows.times[0];
  for (const std::int64_t t : rows.times) {
    counts.query(t + 1, youngest, &out);
    add("distance", out);
    counts.insert(t, {1, true});
    youngest = std::max(youngest, t);
    const std::int64_t before = size();
    counts.bulk_evict(youngest - span);
    add("evicted", before - size());
    add("window", out);
  }
}

}  // namespace bench
