// The window operator when memory runs out, at every allocation of every call: either the call has
// not happened, or the operator refuses everything that follows. It never tells a wrong window.
// And KeyIndex, whose calls have not happened.
#pragma GCC optimize("O0")  // compiling it takes longer than running it
#include <functional>
#include <map>
#include <random>

#include "failing_memory.hpp"
#include "sash/slicing/key_index.hpp"
#include "sash/slicing/window_operator.hpp"

using namespace sash::slicing;
using failing::fail;
using sash::Word;

namespace {

using Sum = sash::Scalar<sash::SumI64>;
using Operator = WindowOperator<Sum>;
using Call = std::function<void(Operator&, std::vector<Word>&)>;  // and what it tells

struct Rows {
  std::vector<std::uint32_t> ids;
  std::vector<Time> times;
  std::vector<std::int64_t> values;
  sash::Nullable<std::int64_t> at(std::size_t i) const { return {values[i], true}; }
};

void tell(const Emission<Sum>& e, std::vector<Word>& told) {
  for (std::size_t i = 0; i < e.rows.size(); ++i) {
    const auto& row = e.rows[i];
    told.insert(told.end(), {row.key, static_cast<Word>(row.said.window),
                             static_cast<Word>(row.start), static_cast<Word>(row.end),
                             static_cast<Word>(row.said.revision), e.outcomes.results(i)[0]});
  }
}
void advance(Operator& op, Time t, std::vector<Word>& told) {
  op.advance(t, [&](const Emission<Sum>& e) { tell(e, told); });
}

// A stream: batches, watermarks, windows that come and go, questions.
std::vector<Call> stream(unsigned seed) {
  std::mt19937 rng(seed);
  std::vector<Call> calls;
  for (int b = 0; b < 5; ++b) {
    Rows rows;
    for (int i = 0; i < 15; ++i) {
      rows.ids.push_back(rng() % 4);
      rows.times.push_back(b * 20 + static_cast<Time>(rng() % 45));
      rows.values.push_back(static_cast<std::int64_t>(rng() % 100));
    }
    calls.push_back([rows](Operator& op, std::vector<Word>& told) {
      op.make_room(4);
      op.give_up_room(4);
      op.process(rows.ids.data(), rows.times.data(), rows.ids.size(), rows, {}, kForever,
                 [&](const Emission<Sum>& e, const auto&) { tell(e, told); });
    });
    if (b == 2)
      calls.push_back([](Operator& op, auto&) {
        op.add_window(Window{Window::Kind::periodic, 9, 15, 15, 0, kNever, {}, {}});
      });
    if (b == 4) calls.push_back([](Operator& op, auto&) { op.remove_window(9); });
    calls.push_back([b](Operator& op, std::vector<Word>& told) { advance(op, b * 20, told); });
    calls.push_back([](Operator& op, std::vector<Word>& told) {
      std::vector<Word> now{op.room() < 2 ? 0 : static_cast<Word>(*op.query(1, kEarliest, kReach))};
      const std::uint32_t ids[] = {0, 1, 2, 3};
      tell(op.list(ids, 4), now);
      told.insert(told.end(), now.begin(), now.end());
    });
  }
  calls.push_back([](Operator& op, std::vector<Word>& told) { advance(op, kEnd, told); });
  return calls;
}

std::unique_ptr<Operator> made(const Settings& settings) {
  auto op = std::make_unique<Operator>(Sum{}, settings);
  op->add_window(Window{Window::Kind::periodic, 1, 30, 7, 0, kNever, {}, {}});
  op->add_window(Window{Window::Kind::session, 2, 4, 0, 0, kNever, {}, {}});
  op->add_window(RowWindow{RowWindow::Kind::count, 3, 4, 2, 0, 0, kNever, {}});
  return op;
}

// Runs the calls up to `last`, this one with its k-th allocation failing; false: none did.
bool run(const Settings& settings, const std::vector<Call>& calls, std::size_t last, long k,
         const std::vector<Word>& wanted, long& halfway) {
  auto op = made(settings);
  std::vector<Word> told;
  told.reserve(wanted.size() + 1);
  for (std::size_t i = 0; i < last; ++i) calls[i](*op, told);
  const std::vector<Word> before = told;
  told.reserve(wanted.size() + 1);
  failing::left = k;
  bool failed = false;
  try {
    calls[last](*op, told);
  } catch (const std::bad_alloc&) {
    failed = true;
  }
  failing::left = -1;
  if (!failed) return false;
  ++failing::failures;
  told = before;
  bool refused = false;
  try {
    for (std::size_t i = last; i < calls.size(); ++i) calls[i](*op, told);
  } catch (const Halfway&) {
    refused = true;
  }
  if (!refused) {
    if (told != wanted) fail("what is told after a failure", "call " + std::to_string(last));
    return true;
  }
  ++halfway;
  if (told != before) fail("told something before refusing", "call " + std::to_string(last));
  for (const Call& call : calls) {
    try {
      call(*op, told);
      fail("did not refuse", "after call " + std::to_string(last));
    } catch (const Halfway&) {
    }
  }
  return true;
}

void streams(const Settings& settings) {
  const std::vector<Call> calls = stream(static_cast<unsigned>(settings.lateness) + 1);
  const long before = failing::blocks;
  long halfway = 0;
  {
    std::vector<Word> wanted;
    auto whole = made(settings);
    for (const Call& call : calls) call(*whole, wanted);
    for (std::size_t i = 0; i < calls.size(); ++i) {
      for (long k = 0; run(settings, calls, i, k, wanted, halfway); ++k) {
      }
      ++failing::operations;
    }
  }
  if (failing::blocks != before) fail("memory leaked", "operator");
  if (halfway == 0) fail("no call was ever left halfway", "operator");
}

void keys(unsigned seed) {
  const long before = failing::blocks;
  {
    KeyIndex index(2);
    std::map<std::pair<std::int64_t, std::int64_t>, std::uint32_t> model;
    std::mt19937 rng(seed);
    const auto verify = [&] {
      if (index.size() != model.size()) fail("size", "KeyIndex");
      for (const auto& [key, id] : model) {
        if (!index.known(id) || index.words(id)[0] != key.first || index.words(id)[1] != key.second)
          fail("a key", "KeyIndex");
      }
    };
    for (int i = 0; i < 3000; ++i) {
      const bool burst = i / 500 % 2 == 0;
      if (rng() % 10 < (burst ? 8 : 3)) {
        const std::int64_t key[2] = {static_cast<std::int64_t>(rng() % 60),
                                     static_cast<std::int64_t>(rng() % 30)};
        bool fresh = false;
        std::uint32_t id = 0;
        failing::every_way([&] { id = index.find_or_add(key, fresh); }, verify);
        const auto [at, added] = model.emplace(std::pair(key[0], key[1]), id);
        if (added != fresh || at->second != id) fail("find_or_add", "KeyIndex");
      } else if (!model.empty()) {
        auto at = model.begin();
        std::advance(at, rng() % model.size());
        failing::every_way([&] { index.forget(at->second); }, [] { fail("forget", "KeyIndex"); });
        model.erase(at);
      }
      if (i % 50 == 0) verify();
    }
    while (!model.empty()) {
      index.forget(model.begin()->second);
      model.erase(model.begin());
    }
    if (index.room() != 0) fail("room is left", "KeyIndex");
  }
  if (failing::blocks != before) fail("memory leaked", "KeyIndex");
}

}  // namespace

int main() {
  try {
    sash::find_ops("count");
    streams({.lateness = 30, .emit = Emit::updates});
    streams({.lateness = 10, .emit = Emit::changelog, .store = Choice::eager});
    streams({.lateness = 5, .delay = 10});
    keys(1);
  } catch (const std::exception& e) {
    fail(e.what(), "thrown");
  }
  std::printf("ok: %ld operations, after %ld failures\n", failing::operations, failing::failures);
}
