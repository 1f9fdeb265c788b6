// The in-order structures, and the places of a FlatFat.
#include "sash/amta.hpp"
#include "sash/daba.hpp"
#include "sash/daba_lite.hpp"
#include "sash/flat_fit.hpp"
#include "sash/reactive_aggregator.hpp"
#include "sash/subtract_on_evict.hpp"
#include "sash/two_stacks.hpp"
#include "sash/two_stacks_lite.hpp"
#include "workload.hpp"

using namespace sash;

namespace guard {
namespace {

constexpr std::size_t kWindow = 1024, kRounds = 8192;

template <class M>
bool is_sum_of(const M& m, std::size_t from, std::size_t to, const typename M::Cell& answer) {
  typename M::Cell all, one;
  m.set_identity(&all);
  for (std::size_t i = from; i < to; ++i) {
    m.lift(&one, value(i));
    m.combine(&all, &all, &one);
  }
  return m.same_state(&all, &answer);
}

// Each round evicts the oldest and inserts one; there is a query after every `step` of them.
template <template <class> class Window, class M>
void slide(const char* name, std::size_t step = 1) {
  const M m{};
  Window<M> window(m);
  for (std::size_t i = 0; i < kWindow; ++i) window.insert(value(i));
  typename M::Cell answer;
  measure(name, kRounds, [&] {
    double sum = 0;
    for (std::size_t i = kWindow; i < kWindow + kRounds; ++i) {
      window.evict();
      window.insert(value(i));
      if (i % step != 0) continue;
      window.query(&answer);
      sum += number(answer);
    }
    return sum;
  });
  window.query(&answer);
  expect(is_sum_of(m, kRounds, kWindow + kRounds, answer), name);
}

// Each round overwrites the places of 16 rows in a row and asks for a suffix.
void overwrite(const char* name) {
  const Maps m{};
  FlatFat<Maps> fat(m, kWindow);
  constexpr std::size_t rounds = 512, together = 16;
  Places places;
  Maps::Cell answer;
  measure(name, rounds, [&] {
    double sum = 0;
    for (std::size_t i = 0; i < rounds * together;) {
      for (std::size_t k = 0; k < together; ++k, ++i) {
        m.lift(fat.leaf(i % kWindow), value(i));
        places.add(i % kWindow);
      }
      fat.refresh(places);
      fat.suffix(i % 1000, &answer);
      sum += number(answer);
    }
    return sum;
  });
  fat.aggregate(&answer);
  expect(is_sum_of(m, rounds * together - kWindow, rounds * together, answer), name);
}

}  // namespace

void run() {
  slide<SubtractOnEvict, Mean>("SubtractOnEvict: in order");
  slide<TwoStacks, Maps>("TwoStacks: in order");
  slide<TwoStacksLite, Sum>("TwoStacksLite: in order");
  slide<TwoStacksLite, Maps>("TwoStacksLite: in order, not commutative");
  slide<Daba, Maps>("Daba: in order");
  slide<DabaLite, Sum>("DabaLite: in order");
  slide<DabaLite, Maps>("DabaLite: in order, not commutative");
  slide<FlatFit, Maps>("FlatFit: in order");
  slide<Amta, Maps>("Amta: in order");
  slide<ReactiveAggregator, Maps>("ReactiveAggregator: in order");
  slide<ReactiveAggregator, Maps>("ReactiveAggregator: 64 changes per query", 32);
  overwrite("FlatFat: 16 of 1,024 places");
}

}  // namespace guard
