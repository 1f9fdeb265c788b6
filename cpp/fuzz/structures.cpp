// All structures, each with monoids that are not commutative, that throw, and native ones.
#include <cstdint>
#include <functional>

#include "../tests/fifo_trial.hpp"
#include "../tests/flat_fat_trial.hpp"
#include "../tests/tree_trial.hpp"
#include "sash/amta.hpp"
#include "sash/coarse.hpp"
#include "sash/daba.hpp"
#include "sash/daba_lite.hpp"
#include "sash/flat_fit.hpp"
#include "sash/reactive_aggregator.hpp"
#include "sash/recalc.hpp"
#include "sash/subtract_on_evict.hpp"
#include "sash/two_stacks.hpp"
#include "sash/two_stacks_lite.hpp"
#include "target.hpp"

namespace sash::fuzz {
namespace {

using namespace trials;
using Maps = Scalar<Affine>;
using Sums = Scalar<SumI64>;
using Objects = Refs<false>;

template <class OneTrial>
Tally play(OneTrial& trial, Dice& dice, std::size_t choices) {
  for (; choices > 0 && dice.more(); --choices) trial.random();
  trial.verify();
  return trial.tally();
}

template <class Structure, class M>
Tally fifo(Dice& dice, std::size_t choices, const char* name) {
  FifoTrial<Structure, M> trial(dice, name);
  return play(trial, dice, choices);
}

template <class M>
Tally flat_fat(Dice& dice, std::size_t choices, const char* name) {
  FlatFatTrial<M> trial(dice, name);
  return play(trial, dice, choices);
}

// Times lie in a span that moves on: small ones merge entries, big ones make the tree grow.
template <class M, bool Fingers>
Tally tree(Dice& dice, std::size_t choices, const char* name) {
  const TreeShape shapes[] = {{2, 4}, {3, 5}, {4, 4}, {5, 9}, {8, 4}, {16, 8}, default_shape(M{})};
  const Time spans[] = {8, 30, 300, 3000};
  TreeTrial<M, Fingers> trial(shapes[dice.below(7)], dice, name);
  const Time span = spans[dice.below(4)];
  // A choice is one operation here, and many where windows slide.
  for (std::size_t i = 0; i < 16 * choices && dice.more(); ++i) {
    trial.every = 1 + static_cast<unsigned>(trial.size() / 8);
    trial.random(static_cast<Time>(i / 4), static_cast<Time>(i / 4) + span);
  }
  trial.verify();
  return trial.tally();
}

struct Kind {
  const char* name;
  Tally (*run)(Dice&, std::size_t, const char*);
};

// Inputs that were found choose by number: new kinds go to the end.
const Kind all_kinds[] = {
    {"FingerTree", tree<Maps, true>},
    {"FingerTree", tree<Objects, true>},
    {"FingerTree", tree<Refs<true>, true>},
    {"FingerTree", tree<Sums, true>},
    {"FingerTree", tree<Wide, true>},
    {"ClassicTree", tree<Maps, false>},
    {"ClassicTree", tree<Objects, false>},
    {"TwoStacks", fifo<TwoStacks<Maps>, Maps>},
    {"TwoStacks", fifo<TwoStacks<Objects>, Objects>},
    {"TwoStacks", fifo<TwoStacks<Wide>, Wide>},
    {"TwoStacksLite", fifo<TwoStacksLite<Maps>, Maps>},
    {"TwoStacksLite", fifo<TwoStacksLite<Objects>, Objects>},
    {"TwoStacksLite", fifo<TwoStacksLite<Wide>, Wide>},
    {"Daba", fifo<Daba<Maps>, Maps>},
    {"Daba", fifo<Daba<Objects>, Objects>},
    {"Daba", fifo<Daba<Wide>, Wide>},
    {"DabaLite", fifo<DabaLite<Maps>, Maps>},
    {"DabaLite", fifo<DabaLite<Objects>, Objects>},
    {"DabaLite", fifo<DabaLite<Wide>, Wide>},
    {"SubtractOnEvict", fifo<SubtractOnEvict<Maps>, Maps>},
    {"SubtractOnEvict", fifo<SubtractOnEvict<Objects>, Objects>},
    {"SubtractOnEvict", fifo<SubtractOnEvict<Sums>, Sums>},
    {"Recalc", fifo<Recalc<Objects>, Objects>},
    {"FlatFit", fifo<FlatFit<Maps>, Maps>},
    {"FlatFit", fifo<FlatFit<Objects>, Objects>},
    {"Amta", fifo<Amta<Maps>, Maps>},
    {"Amta", fifo<Amta<Objects>, Objects>},
    {"ReactiveAggregator", fifo<ReactiveAggregator<Maps>, Maps>},
    {"ReactiveAggregator", fifo<ReactiveAggregator<Objects>, Objects>},
    {"FlatFat", flat_fat<Maps>},
    {"FlatFat", flat_fat<Objects>},
    {"Coarse<TwoStacksLite>", fifo<Coarse<TwoStacksLite, Wide>, Wide>},
    {"Coarse<DabaLite>", fifo<Coarse<DabaLite, Wide>, Wide>},
    {"Timed<TwoStacksLite>", fifo<Timed<TwoStacksLite<Maps>>, Maps>},
    {"Timed<DabaLite>", fifo<Timed<DabaLite<Objects>>, Objects>},
};

}  // namespace

Done run(Dice& dice, std::size_t choices) {
  const Kind& kind = all_kinds[dice.below(std::size(all_kinds))];
  const Tally tally = kind.run(dice, choices, kind.name);
  if (objects != 0) fail("objects leaked", kind.name);
  return {kind.name, tally};
}

}  // namespace sash::fuzz
