// WindowOperator: many windows over one stream of late rows, for one key and for many.
#include <vector>

#include "sash/slicing/window_operator.hpp"
#include "workload.hpp"

namespace guard {
namespace {

using sash::slicing::Emission, sash::slicing::kEnd, sash::slicing::kForever, sash::slicing::kNever,
    sash::slicing::Window;

constexpr std::size_t kRows = 16384, kBatch = 1024;
constexpr Time kSecond = 1000, kBetween = 10, kDelay = 2 * kSecond;

struct Rows {  // one row in `kBetween`, each fifth of them late by up to `kDelay`
  explicit Rows(std::uint64_t key_count) {
    Random random;
    for (std::size_t i = 0; i < kRows; ++i) {
      const std::uint64_t late = i % 5 == 0 ? random.below(kDelay) : 0;
      times.push_back(static_cast<Time>(i) * kBetween - static_cast<Time>(late));
      keys.push_back(static_cast<std::uint32_t>(random.below(key_count)));
      total += value(i).value;
    }
  }
  std::vector<Time> times;
  std::vector<std::uint32_t> keys;
  double total = 0;
};

struct Values {  // of one batch
  std::size_t from;
  sash::Nullable<double> at(std::size_t i) const { return value(from + i); }
};

// `covers`: how many windows each row is in.
void process(const char* name, const std::vector<Window>& windows, std::uint64_t keys, int covers) {
  const Rows rows(keys);
  sash::slicing::WindowOperator<Sum> op({}, {.delay = kDelay});
  for (const Window& window : windows) op.add_window(window);
  op.make_room(keys);
  double told = 0;
  const auto read = [&](const Emission<Sum>& emission, const auto&...) {
    for (std::size_t i = 0; i < emission.rows.size(); ++i) {
      double answer;
      std::memcpy(&answer, emission.outcomes.results(i), sizeof answer);
      told += answer;
    }
  };
  measure(name, kRows, [&] {
    for (std::size_t i = 0; i < kRows; i += kBatch)
      op.process(rows.keys.data() + i, rows.times.data() + i, kBatch, Values{i}, {}, kForever,
                 read);
    op.advance(kEnd, read);
    return told;
  });
  expect(told == covers * rows.total, name);
}

Window tumbling(int id, Time size) {
  return {Window::Kind::periodic, id, size, size, 0, kNever, {}, {}};
}
Window sliding(int id, Time size, Time slide) {
  return {Window::Kind::periodic, id, size, slide, 0, kNever, {}, {}};
}
Window session(int id, Time gap) { return {Window::Kind::session, id, gap, 1, 0, kNever, {}, {}}; }

}  // namespace

void run() {
  std::vector<Window> many;
  for (int i = 1; i <= 20; ++i) many.push_back(tumbling(i, i * kSecond));
  many.push_back(session(0, kSecond / 20));
  process("WindowOperator: 20 tumbling and sessions", many, 1, 21);
  process("WindowOperator: sliding", {sliding(0, 60 * kSecond, kSecond / 10)}, 1, 600);
  process("WindowOperator: 1,000 keys", {tumbling(0, 20 * kSecond)}, 1000, 1);
}

}  // namespace guard
