// The window operator, with a sum and with a monoid that is not commutative.
#include "../tests/operator_trial.hpp"
#include "target.hpp"

namespace sash::fuzz {
namespace {

template <class S>
trials::Tally stream(trials::Dice& dice, std::size_t choices, const char* name) {
  trials::OperatorTrial<S> trial(dice, name);
  for (; choices > 0 && dice.more(); --choices) trial.random();
  trial.finish();
  return trial.tally();
}

}  // namespace

Done run(trials::Dice& dice, std::size_t choices) {
  const bool sums = dice.one_in(2);
  const char* name = sums ? "WindowOperator of sums" : "WindowOperator of maps";
  return {name, (sums ? stream<SumF64> : stream<trials::Affine>)(dice, choices, name)};
}

}  // namespace sash::fuzz
