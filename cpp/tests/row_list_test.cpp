// RowList against a vector: rows at any places, one or many at once, taken out again, dropped from
// the front; with memory that runs out at every allocation on the way.
// Usage: row_list_test [lists] [first seed]
#include "sash/slicing/row_list.hpp"
#include "dice.hpp"
#include "failing_memory.hpp"

using namespace sash;
using failing::fail;
using slicing::Time;

namespace {

struct Row {
  Time time;
  std::int64_t value;  // the state is lifted from it; marks follow from it
  std::int64_t mark(std::size_t c) const { return value * 31 + static_cast<std::int64_t>(c); }
};

template <class M>
class Trial {
 public:
  Trial(std::uint64_t seed, const char* name)
      : dice_(seed), list_(dice_.below(4)), name_(name + (", seed " + std::to_string(seed))) {}
  ~Trial() { list_.clear(m_); }

  void step() {
    const std::uint64_t what = dice_.below(12);
    if (what < 3) insert(1, Where::after);
    else if (what < 6) insert(1, Where::among);
    else if (what < 8) insert(dice_.below(dice_.one_in(4) ? 2000 : 40) + 1, any_place());
    else if (what < 10) drop(dice_.below(4));
    else if (what == 10) look();
    else compare();
  }
  void finish() {
    compare();
    list_.clear(m_);
    model_.clear();
    if (list_.bytes(m_) != 0) failed("a list that was cleared takes memory");
    insert(300, Where::after);
    compare();
  }
  std::size_t opened = 0, closed = 0;

 private:
  enum class Where { before, among, after };
  Where any_place() { return static_cast<Where>(dice_.below(3)); }
  void insert(std::size_t n, Where where) {
    const std::vector<Row> rows = new_rows(n, where);
    std::vector<std::size_t> places;
    for (std::size_t k = 0; k < n; ++k) places.push_back(place_of(rows[k].time) + k);
    failing::every_way([&] { list_.open(m_, places); }, [&] { compare(); });
    ++opened;
    for (std::size_t k = 0; k < n; ++k) put(places[k], rows[k]);
    if (dice_.one_in(3)) return close(places);
    std::vector<Row> merged;
    for (std::size_t k = 0, i = 0; merged.size() < model_.size() + n;) {
      const bool is_new = k < n && places[k] == merged.size();
      merged.push_back(is_new ? rows[k++] : model_[i++]);
    }
    model_ = std::move(merged);
  }
  // As for a call that is undone.
  void close(const std::vector<std::size_t>& places) {
    failing::every_way([&] { list_.close(m_, places); }, [&] { failed("close needs memory"); });
    ++closed;
    compare();
  }
  std::vector<Row> new_rows(std::size_t n, Where where) {
    const Time first = model_.empty() ? 0 : model_.front().time;
    const Time last = model_.empty() ? 0 : model_.back().time;
    const Time low = where == Where::before  ? first - 5
                     : where == Where::after ? last
                                             : dice_.between(first, last);
    const Time high = where == Where::among ? dice_.between(low, last) : low + 4;
    std::vector<Row> rows(n);
    for (Row& row : rows) row = {dice_.between(low, high), dice_.between(0, 999)};
    std::sort(rows.begin(), rows.end(), [](const Row& a, const Row& b) { return a.time < b.time; });
    return rows;
  }
  // After the rows of that time.
  std::size_t place_of(Time t) {
    const auto at = std::lower_bound(model_.begin(), model_.end(), t + 1,
                                     [](const Row& row, Time time) { return row.time < time; });
    const auto before = static_cast<std::size_t>(at - model_.begin());
    if (list_.before(t + 1) != before) failed("the rows before a time");
    return before;
  }
  void put(std::size_t i, const Row& row) {
    const auto to = list_.row(m_, i);
    to.time = row.time;
    for (std::size_t c = 0; c < list_.width(); ++c) to.marks[c] = row.mark(c);
    lift(row);
    m_.copy_state(to.state, lifted_.get());
  }
  void lift(const Row& row) {
    m_.lift(entry_.get(), M::in(row.value));
    m_.to_state(lifted_.get(), entry_.get());
  }
  void drop(std::uint64_t quarters) {
    const std::size_t n = model_.size() * quarters / 4;
    if (n == 0) return;
    list_.remove_front(m_, n);
    model_.erase(model_.begin(), model_.begin() + static_cast<std::ptrdiff_t>(n));
  }
  void look() {
    for (int i = 0; i < 20 && !model_.empty(); ++i) check(dice_.below(model_.size()));
  }
  void compare() {
    if (list_.size() != model_.size()) failed("the number of rows");
    if (list_.before(slicing::kForever) != model_.size() || list_.before(slicing::kNever) != 0)
      failed("the rows before any time");
    for (std::size_t i = 0; i < model_.size(); ++i) check(i);
  }
  void check(std::size_t i) {
    if (list_.time(i) != model_[i].time) failed("a time");
    for (std::size_t c = 0; c < list_.width(); ++c)
      if (list_.marks(i)[c] != model_[i].mark(c)) failed("a mark");
    lift(model_[i]);
    if (!m_.same_state(list_.state(m_, i), lifted_.get())) failed("a state");
  }
  [[noreturn]] void failed(const char* what) const { fail(what, name_); }

  M m_;
  trials::Dice dice_;
  slicing::RowList<M> list_;
  std::vector<Row> model_;
  std::string name_;
  Held<M> entry_{m_}, lifted_{m_};
};

struct Tally {
  std::size_t opened = 0, closed = 0;
};

template <class M>
void run(std::uint64_t seed, const char* name, Tally& all) {
  const long before = failing::blocks;
  {
    Trial<M> trial(seed, name);
    for (int i = 0; i < 120; ++i) trial.step();
    trial.finish();
    all.opened += trial.opened, all.closed += trial.closed;
  }
  if (failing::blocks != before) fail("memory leaked", name);
}

}  // namespace

int main(int argc, char** argv) {
  const auto lists = static_cast<std::uint64_t>(argc > 1 ? std::atoi(argv[1]) : 20);
  const auto first = static_cast<std::uint64_t>(argc > 2 ? std::atoi(argv[2]) : 1);
  find_ops("count");
  Tally all;
  for (std::uint64_t seed = first; seed < first + lists; ++seed) {
    run<failing::Affine>(seed, "affine", all);
    run<failing::Shared>(seed, "references", all);
    run<failing::Small>(seed, "records", all);
    if (seed % 4 == 0) run<failing::Big>(seed, "large records", all);
  }
  std::printf(
      "rows: as in a vector, %zu times with new rows and %zu times without them again, %ld "
      "failures\n",
      all.opened, all.closed, failing::failures);
}
