// Rolling in event order: a queue follows the frames.
#include "../rolling.hpp"
#include "../window.hpp"

namespace sash_py {
namespace {

template <class Fifo, class M>
class EventRoll final : public MonoidRoll<M> {
 public:
  using MonoidRoll<M>::MonoidRoll;
  void run(std::size_t from, std::size_t to) override {
    unlocked<M>([&] {
      if (this->task_.layout->order.rows) part<false>(from, to);
      else part<true>(from, to);
    });
  }

 private:
  // Rows that are in order as they stand are read and written without looking their places up.
  template <bool InOrder>
  void part(std::size_t from, std::size_t to) {
    if constexpr (M::fixed_cells != 0 && M::nothrow) part_flat<InOrder>(from, to);
    else part_rows<InOrder>(from, to);
  }
  template <bool InOrder>
  [[gnu::flatten]] void part_flat(std::size_t from, std::size_t to) {
    part_rows<InOrder>(from, to);
  }
  template <bool InOrder>
  void part_rows(std::size_t from, std::size_t to) {
    const RollTask& task = this->task_;
    const std::uint32_t* rows = task.layout->order.rows.get();
    const bool per_row = task.per_row;
    Fifo window(this->m_);
    sash::Held<M> state(this->m_);
    auto&& in = this->column_.reader();
    auto&& out = this->results_.writer();
    const M& m = window.monoid();
    sash::rolling::roll_event(
        window, *task.frames, from, to, task.least, state.get(),
        [&](std::size_t p) { return in.at(InOrder ? p : rows[p]); },
        [&](std::size_t i, const typename M::Cell* s) {
          this->put(out, m, InOrder || !per_row ? i : rows[i], s);
        });
    this->merge(out);
  }
};

}  // namespace

std::unique_ptr<AnyRoll> roll_event(std::shared_ptr<const Spec> spec, nb::handle columns,
                                    RollTask task) {
  std::unique_ptr<AnyRoll> made;
  with_monoid<Scalars::all>(*spec, [&](const auto& m) {
    using M = std::remove_cvref_t<decltype(m)>;
    made = with_structure<sash::TwoStacksLite>(
        m, [&]<class S>(std::type_identity<S>) -> std::unique_ptr<AnyRoll> {
          return std::make_unique<EventRoll<S, M>>(spec, m, columns, task);
        });
  });
  return made;
}

}  // namespace sash_py
