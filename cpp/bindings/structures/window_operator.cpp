#include "../window_operator.hpp"

namespace sash_py {

std::unique_ptr<AnyOperator> make_operator(std::shared_ptr<const Spec> spec,
                                           slicing::Settings settings) {
  std::unique_ptr<AnyOperator> made;
  with_monoid<Scalars::sizes>(*spec, [&](const auto& m) {
    using M = std::remove_cvref_t<decltype(m)>;
    made = std::make_unique<OperatorOf<M>>(spec, m, settings);
  });
  return made;
}

}  // namespace sash_py
