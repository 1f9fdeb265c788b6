// WindowOperator against brute force: random windows, keys, orders, lateness, stores.
#include <cstdio>
#include <cstdlib>
#include <map>
#include <random>
#include <tuple>

#include "sash/slicing/window_operator.hpp"

using namespace sash::slicing;
using sash::Nullable;

namespace {

using Sum = sash::Scalar<sash::SumF64>;
using Place = std::tuple<std::uint32_t, int, Time, Time>;  // key, window, start, end

struct Rows {
  std::vector<std::uint32_t> ids;
  std::vector<Time> times;
  std::vector<double> values;
  Nullable<double> at(std::size_t i) const { return {values[i], true}; }
};

struct Reader {  // of results
  std::map<Place, double> standing;
  void read(const Emission<Sum>& e) {
    for (std::size_t i = 0; i < e.rows.size(); ++i) {
      const auto& row = e.rows[i];
      const Place place{row.key, row.said.window, row.start, row.end};
      double value;
      std::memcpy(&value, e.outcomes.results(i), sizeof value);
      if (row.change == Change::withdrawn) standing.erase(place);
      else standing[place] = value;
    }
  }
};

// Every window of all rows, by definition.
std::map<Place, double> brute_force(const std::vector<Window>& windows, const Rows& rows) {
  std::map<Place, double> all;
  for (std::size_t i = 0; i < rows.times.size(); ++i)
    for (const Window& w : windows) {
      if (!w.fixed()) continue;
      Time start = floor_to(rows.times[i], w.slide, w.offset);
      for (; start > rows.times[i] - w.size; start -= w.slide)
        all[{rows.ids[i], w.id, start, start + w.size}] += rows.values[i];
    }
  for (const Window& w : windows) {
    std::map<std::uint32_t, std::multimap<Time, double>> by_key;
    for (std::size_t i = 0; i < rows.times.size(); ++i)
      by_key[rows.ids[i]].emplace(rows.times[i], rows.values[i]);
    for (const auto& [key, sorted] : by_key) {
      if (w.kind == Window::Kind::rolling)
        for (const auto& [t, ignored] : sorted) {
          double sum = 0;
          for (const auto& [u, x] : sorted) sum += t - w.size < u && u <= t ? x : 0;
          all[{key, w.id, t - w.size, t}] = sum;
        }
      if (w.kind != Window::Kind::session) continue;
      for (auto i = sorted.begin(); i != sorted.end();) {
        auto j = i;
        double sum = 0;
        Time last = i->first;
        for (; j != sorted.end() && j->first - last <= w.size; ++j) {
          sum += j->second;
          last = j->first;
        }
        all[{key, w.id, i->first, last + w.size}] = sum;
        i = j;
      }
    }
  }
  return all;
}

[[noreturn]] void fail(unsigned seed, const char* what) {
  std::printf("slicing: seed %u: %s\n", seed, what);
  std::exit(1);
}

// The rows are folded in two operators, and their slices put together in a third.
void run_parts(unsigned seed, const std::vector<Window>& windows, Choice store, const Rows& all) {
  struct Piece {
    std::uint32_t id;
    Time first, last;
    Sum::Cell state;
  };
  std::vector<Piece> pieces;
  for (std::size_t part = 0; part < 2; ++part) {
    WindowOperator<Sum> op({}, {.store = store}, false);
    for (const Window& w : windows) op.add_window(w);
    Rows rows;
    for (std::size_t i = 0; i < all.times.size(); ++i) {
      if ((i * 7 + seed) / 3 % 2 != part) continue;
      rows.ids.push_back(all.ids[i]);
      rows.times.push_back(all.times[i]);
      rows.values.push_back(all.values[i]);
    }
    op.make_room(6);
    op.process(rows.ids.data(), rows.times.data(), rows.times.size(), rows, {},
               [](const Emission<Sum>&, const auto&) {});
    op.each_slice([&](std::uint32_t id, Time first, Time last, const Sum::Cell* state) {
      pieces.push_back({id, first, last, *state});
    });
  }
  std::stable_sort(pieces.begin(), pieces.end(), [](const Piece& a, const Piece& b) {
    return std::tuple(a.id, a.first) < std::tuple(b.id, b.first);
  });
  std::vector<std::uint32_t> ids;
  std::vector<Time> firsts, lasts;
  for (const Piece& p : pieces)
    ids.push_back(p.id), firsts.push_back(p.first), lasts.push_back(p.last);
  WindowOperator<Sum> whole({}, {.store = store}, seed % 2 == 0);
  for (const Window& w : windows) whole.add_window(w);
  whole.make_room(6);
  whole.merge(
      ids.data(), firsts.data(), lasts.data(), ids.size(),
      [&](std::size_t i, Sum::Cell* to) { *to = pieces[i].state; }, [](const Emission<Sum>&) {});
  Reader reader;
  whole.advance(kEnd, [&](const Emission<Sum>& e) { reader.read(e); });
  if (reader.standing != brute_force(windows, all)) fail(seed, "other windows of merged slices");
}

void run(unsigned seed) {
  std::mt19937 rng(seed);
  const auto below = [&](int n) { return static_cast<int>(rng() % static_cast<unsigned>(n)); };
  std::vector<Window> windows;
  const int kinds = below(3);  // sometimes no rolling windows: they make every moment a slice
  for (int i = 0, n = 1 + below(5); i < n; ++i) {
    const int kind = below(kinds == 0 ? 4 : 3);
    const Time size = 1 + below(40), slide = 1 + below(static_cast<int>(size));
    if (kind == 0)
      windows.push_back({Window::Kind::periodic, i, size, size, below(7), kNever, {}, {}});
    if (kind == 1)
      windows.push_back({Window::Kind::periodic, i, size, slide, below(7), kNever, {}, {}});
    if (kind == 2) windows.push_back({Window::Kind::session, i, size, 1, 0, kNever, {}, {}});
    if (kind == 3) windows.push_back({Window::Kind::rolling, i, size, 1, 0, kNever, {}, {}});
  }
  const auto store = static_cast<Choice>(below(3));
  const Time lateness = below(2) == 0 ? 1000 : 1'000'000;
  WindowOperator<Sum> op({}, {.lateness = lateness, .store = store}, below(2) == 0);
  for (const Window& w : windows) op.add_window(w);
  Rows all;
  Reader reader;
  Time now = -300;
  for (int batch = 0; batch < 30; ++batch) {
    Rows rows;
    const int n = below(4) == 0 ? below(200) : below(6);
    const int keys = 1 + below(5), spread = below(3) == 0 ? 500 : 60;
    for (int i = 0; i < n; ++i) {
      rows.ids.push_back(static_cast<std::uint32_t>(below(keys)));
      rows.times.push_back(now + below(spread) - 30);
      rows.values.push_back(below(100));
    }
    all.ids.insert(all.ids.end(), rows.ids.begin(), rows.ids.end());
    all.times.insert(all.times.end(), rows.times.begin(), rows.times.end());
    all.values.insert(all.values.end(), rows.values.begin(), rows.values.end());
    op.make_room(6);
    op.process(rows.ids.data(), rows.times.data(), rows.times.size(), rows, {},
               [&](const Emission<Sum>& e, const auto& late) {
                 if (!late.empty()) fail(seed, "a row within the lateness was refused");
                 reader.read(e);
               });
    now += below(40);
    op.advance(now - 20, [&](const Emission<Sum>& e) { reader.read(e); });
  }
  op.advance(kEnd, [&](const Emission<Sum>& e) { reader.read(e); });
  if (reader.standing != brute_force(windows, all)) fail(seed, "other windows than brute force");
  for (std::uint32_t id = 0; id < op.room(); ++id)
    if (!op.key(id).empty()) fail(seed, "something is left of a key");
  run_parts(seed, windows, store, all);
}

}  // namespace

int main() {
  for (unsigned seed = 1; seed <= 1500; ++seed) run(seed);
  std::printf("slicing: 1,500 streams, whole and in parts, as by brute force\n");
}
