// WindowOperator: how the cost of late rows grows with the rows of their key that are there, and
// the cost of a window that is added with the number of windows (benchmarks/guard_growth.py).
#include <string>
#include <vector>

#include "sash/slicing/window_operator.hpp"
#include "workload.hpp"

namespace guard {
namespace {

using namespace sash::slicing;

constexpr Time kApart = 128, kLate = 48;  // rows in order; a late row after one of them
constexpr std::size_t kInWindow = 8;      // rows of a window by rows
constexpr std::size_t kSingle = 64;       // late rows in batches of one row

// The rows of one key, and what is emitted for them.
class Stream {
 public:
  template <class AnyWindow>
  Stream(const AnyWindow& window, Settings settings) : op_({}, settings) {
    op_.add_window(window);
    op_.make_room(1);
  }
  // One batch: a row at each time.
  void send(const std::vector<Time>& times, const std::vector<std::int64_t>& marks = {}) {
    const std::vector<std::uint32_t> keys(times.size());
    const Values values{sent_};
    for (std::size_t i = 0; i < times.size(); ++i) total_ += values.at(i).value;
    sent_ += times.size();
    std::vector<const std::int64_t*> columns;
    if (!marks.empty()) columns.push_back(marks.data());
    op_.process(keys.data(), times.data(), times.size(), values, columns, kForever,
                [this](const Emission<Sum>& emission, const auto&) { read(emission); });
  }
  void advance(Time watermark) {
    op_.advance(watermark, [this](const Emission<Sum>& emission) { read(emission); });
  }
  std::size_t emitted() const { return emitted_; }
  double sum() const { return sum_; }
  // Whether the windows that there are in the end have each row once.
  bool is_complete() {
    advance(kEnd);
    return sum_ == total_;
  }

 private:
  struct Values {
    std::size_t from;
    sash::Nullable<double> at(std::size_t i) const { return value(from + i); }
  };
  void read(const Emission<Sum>& emission) {
    emitted_ += emission.rows.size();
    for (std::size_t i = 0; i < emission.rows.size(); ++i) {
      const auto& row = emission.rows[i];
      double answer;
      std::memcpy(&answer, emission.outcomes.results(i), sizeof answer);
      if (row.change == Change::withdrawn) sum_ -= answer;
      else if (row.said.revision == 0) sum_ += answer;  // no window here has another sum later
    }
  }
  WindowOperator<Sum> op_;
  std::size_t sent_ = 0, emitted_ = 0;
  double total_ = 0, sum_ = 0;
};

std::string label(const char* name, std::size_t n) {
  return "WindowOperator: " + std::string(name) + " at " + std::to_string(n);
}
std::vector<Time> times(std::size_t n, Time offset) {
  std::vector<Time> all;
  for (std::size_t i = 0; i < n; ++i) all.push_back(static_cast<Time>(i) * kApart + offset);
  return all;
}
Window session(Time gap) { return {Window::Kind::session, 0, gap, 1, 0, kNever, {}, {}}; }
RowWindow by_rows(RowWindow::Kind kind) {
  const bool count = kind == RowWindow::Kind::count;
  return {kind, 0, Rank{kInWindow}, Rank{kInWindow}, 1, count ? 0u : 1u, kNever, {}};
}
// Marks of n rows: a window ends (punctuation), or the value has moved on (delta), every few rows.
std::vector<std::int64_t> marks(RowWindow::Kind kind, std::size_t n) {
  std::vector<std::int64_t> all;
  for (std::size_t i = 0; i < n && kind != RowWindow::Kind::count; ++i) {
    const bool last = i % kInWindow == kInWindow - 1;
    const std::int64_t moved = std::bit_cast<std::int64_t>(static_cast<double>(i / kInWindow));
    all.push_back(kind == RowWindow::Kind::delta ? moved : last);
  }
  return all;
}

// n sessions of one row, emitted as complete or early, and n late rows in one batch. changes: the
// rows of results for these.
void late_sessions(const char* what, std::size_t n, Time gap, Emit emit, std::size_t changes) {
  const std::string name = label(what, n);
  Stream stream(session(gap), {.lateness = kLongest / 2, .emit = emit});
  stream.send(times(n, 0));
  if (emit == Emit::complete) stream.advance(static_cast<Time>(n + 1) * kApart);
  const std::size_t before = stream.emitted();
  const std::vector<Time> late = times(n, kLate);
  measure(name.c_str(), n, [&] {
    stream.send(late);
    return stream.sum();
  });
  expect(stream.emitted() == before + changes && stream.is_complete(), name.c_str());
}

// n rows of which no window is emitted yet, and n late rows in one batch.
void late_batch(const char* what, std::size_t n, RowWindow::Kind kind) {
  const std::string name = label(what, n);
  Stream stream(by_rows(kind), {});
  const std::vector<std::int64_t> its = marks(kind, n);
  stream.send(times(n, 0), its);
  const std::vector<Time> late = times(n, kLate);
  measure(name.c_str(), n, [&] {
    stream.send(late, its);
    return stream.sum();
  });
  expect(stream.emitted() == 0 && stream.is_complete(), name.c_str());
}

// n rows of which no window is emitted yet, and late rows among all of them, each in its own batch.
void late_single(const char* what, std::size_t n, RowWindow::Kind kind) {
  const std::string name = label(what, n);
  Stream stream(by_rows(kind), {});
  const std::vector<std::int64_t> its = marks(kind, n);
  stream.send(times(n, 0), its);
  Random random;
  measure(name.c_str(), kSingle, [&] {
    for (std::size_t k = 0; k < kSingle; ++k) {
      const std::size_t i = random.below(n);
      std::vector<std::int64_t> mark;
      if (!its.empty()) mark.push_back(its[i]);
      stream.send({static_cast<Time>(i) * kApart + kLate}, mark);
    }
    return stream.sum();
  });
  expect(stream.emitted() == 0 && stream.is_complete(), name.c_str());
}

void added_windows(std::size_t n) {
  const std::string name = label("windows added", n);
  WindowOperator<Sum> op({}, {});
  Time sizes = 0;
  measure(name.c_str(), n, [&] {
    for (std::size_t i = 0; i < n; ++i) {
      Window window = session(kApart + static_cast<Time>(i));
      if (i % 2 == 0) window.kind = Window::Kind::periodic;
      window.id = static_cast<int>(i);
      sizes += op.add_window(window) == kNever ? window.size : 0;
    }
    return static_cast<double>(sizes);
  });
  const auto count = static_cast<Time>(n);
  expect(sizes == count * kApart + count * (count - 1) / 2, name.c_str());
}

}  // namespace

void run() {
  using Kind = RowWindow::Kind;
  for (const std::size_t n : {1024u, 4096u, 16384u}) {
    late_sessions("late sessions among emitted ones", n, 10, Emit::complete, n);
    late_sessions("late rows that join sessions", n, kApart - kLate, Emit::complete, n + 1);
    late_sessions("late sessions among early ones", n, 10, Emit::updates, n);
    late_batch("late rows of windows by count", n, Kind::count);
    late_batch("late rows of windows by punctuation", n, Kind::punctuation);
    added_windows(n);
  }
  for (const std::size_t n : {4096u, 16384u, 65536u}) {
    late_single("single late rows of windows by count", n, Kind::count);
    late_single("single late rows of windows by delta", n, Kind::delta);
  }
}

}  // namespace guard
