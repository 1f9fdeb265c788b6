// Rolling in arrival order: a finger tree holds what has arrived and is in the window. Rows are
// told apart by their positions, so that equal times are entries of their own.
#include "../rolling.hpp"
#include "../window.hpp"
#include "sash/finger_tree.hpp"

namespace sash_py {
namespace {

template <class M>
class ArrivalRoll final : public MonoidRoll<M> {
 public:
  using MonoidRoll<M>::MonoidRoll;
  void run(std::size_t from, std::size_t to) override {
    unlocked<M>([&] { keys(from, to); });
  }

 private:
  void keys(std::size_t from, std::size_t to) {
    const Layout& layout = *this->task_.layout;
    sash::FingerTree<M> tree(this->m_);
    sash::Held<M> state(this->m_);
    auto&& in = this->column_.reader();
    auto&& out = this->results_.writer();
    this->in_arrival_order(
        from, to, [&](std::size_t, std::size_t) { tree.clear(); },
        [&](std::size_t p) { tree.insert(static_cast<std::int64_t>(p), in.at(layout.row(p))); },
        [&](std::size_t p) { tree.evict(static_cast<std::int64_t>(p)); },
        [&](std::size_t p, std::size_t size) {
          if (size < this->task_.least) return out.put_null(layout.row(p));
          tree.query(state.get());
          out.put(tree.monoid(), layout.row(p), state.get());
        });
    this->merge(out);
  }
};

}  // namespace

std::unique_ptr<AnyRoll> roll_arrival(std::shared_ptr<const Spec> spec, nb::handle columns,
                                      RollTask task) {
  std::unique_ptr<AnyRoll> made;
  with_monoid<Scalars::few>(*spec, [&](const auto& m) {
    made = std::make_unique<ArrivalRoll<std::remove_cvref_t<decltype(m)>>>(spec, m, columns, task);
  });
  return made;
}

}  // namespace sash_py
