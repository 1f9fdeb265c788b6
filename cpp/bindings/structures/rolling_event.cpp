// Rolling in event order: Two-Stacks follows the frames.
#include "../rolling.hpp"
#include "../window.hpp"

namespace sash_py {
namespace {

// Where the largest (smallest) value is: its row, the first of several.
template <bool Max, class T>
struct PlaceOf {
  struct In {
    T value;
    Word row;
  };
  using Out = Word;
  struct State {
    std::int64_t key;
    Word row;
  };
  static constexpr Word kNone = ~Word{0};
  static constexpr bool commutative = false, exact = true;
  State identity() const { return {Max ? sash::kLowest : sash::kHighest, kNone}; }
  State lift(const In& in) const { return {sash::tie_key(in.value), in.row}; }
  State combine(State a, State b) const {
    const bool later = Max ? b.key > a.key : b.key < a.key;
    return later || a.row == kNone ? b : a;
  }
  bool lower(State s, Out& out) const { return out = s.row, s.row != kNone; }
};

// An aggregate that is a record's component elsewhere, compiled in here.
template <class S>
struct Plain : S {
  explicit Plain(S s) : S(s) {}
  using Out = Word;
  bool lower(const typename S::State& s, Word& out) const {
    if constexpr (requires { S::lower_row(s, &out); }) {
      return S::lower_row(s, &out);
    } else {
      typename S::Out value{};
      const bool there = S::lower(s, value);
      out = std::bit_cast<Word>(value);
      return there;
    }
  }
};

// Calls f with a record of one component as a scalar, for those that are asked for most.
template <class F>
bool with_component(const Spec& spec, F&& f) {
  if (spec.kind != Spec::record || spec.layout->components().size() != 1) return false;
  const sash::Component& c = spec.layout->components()[0];
  const auto is = [&]<class S>(std::type_identity<S>, const char* name) {
    if (c.ops != sash::find_ops(name)) return false;
    f(sash::Scalar<Plain<S>>{Plain<S>(sash::detail::make<S>(c.params))});
    return true;
  };
  return is(std::type_identity<sash::Edge<false>>{}, "first") ||
         is(std::type_identity<sash::Edge<true>>{}, "last") ||
         is(std::type_identity<sash::Range<double>>{}, "range_f64") ||
         is(std::type_identity<sash::Range<std::int64_t>>{}, "range_i64") ||
         is(std::type_identity<sash::MeanI64>{}, "mean_i64") ||
         is(std::type_identity<sash::VarianceI64>{}, "variance_i64") ||
         is(std::type_identity<sash::Product>{}, "product_f64") ||
         is(std::type_identity<sash::Truth<false>>{}, "any") ||
         is(std::type_identity<sash::Truth<true>>{}, "all");
}

}  // namespace

template <bool Max, class T>
class Column<sash::Scalar<PlaceOf<Max, T>>> {
 public:
  struct Reader {
    const T* values;
    const std::uint8_t* valid;
    sash::Nullable<typename PlaceOf<Max, T>::In> at(std::size_t i) const {
      return {{values[i], i}, valid == nullptr || valid[i] != 0};
    }
  };
  Column(const Spec&, nb::handle columns) : columns_(columns, 1) {}
  Reader reader() const {
    return {reinterpret_cast<const T*>(columns_.words(0)), columns_.valid(0)};
  }

 private:
  NativeColumns columns_;
};

namespace {

template <class M>
using Queue = sash::TwoStacksLite<M>;
using Blocks = sash::Coarse<sash::TwoStacksLite, sash::Record>;

template <class M>
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
    if constexpr (!M::nothrow) {
      Queue<M> window(this->m_);
      through<InOrder>(window, from, to);
    } else if constexpr (M::fixed_cells == 0) {
      if (!Blocks::pays(this->m_)) return column<InOrder>(from, to);
      Blocks window(this->m_);
      through<InOrder>(window, from, to);
    } else {
      column_flat<InOrder>(from, to);
    }
  }
  template <bool InOrder>
  [[gnu::flatten]] void column_flat(std::size_t from, std::size_t to) {
    column<InOrder>(from, to);
  }
  template <bool InOrder>
  void column(std::size_t from, std::size_t to) {
    each_row<InOrder>([&](auto&& read, auto&& write) {
      if constexpr (M::fixed_cells == 1) {
        if (const std::size_t size = this->task_.frames->trailing(); size != 0)
          return sash::rolling::roll_trailing(this->m_, *this->task_.frames, size, from, to,
                                              this->task_.least, read, write);
      }
      sash::rolling::roll_column(this->m_, *this->task_.frames, from, to, this->task_.least, read,
                                 write);
    });
  }
  template <bool InOrder, class Fifo>
  void through(Fifo& window, std::size_t from, std::size_t to) {
    sash::Held<M> state(this->m_);
    each_row<InOrder>([&](auto&& read, auto&& write) {
      sash::rolling::roll_event(window, *this->task_.frames, from, to, this->task_.least,
                                state.get(), read, write);
    });
  }
  template <bool InOrder, class F>
  void each_row(F&& roll) {
    const std::uint32_t* rows = this->task_.layout->order.rows.get();
    const bool per_row = this->task_.per_row;
    auto&& in = this->column_.reader();
    auto&& out = this->results_.writer();
    roll([&](std::size_t p) { return in.at(InOrder ? p : rows[p]); },
         [&](std::size_t i, const typename M::Cell* s) {
           this->put(out, this->m_, InOrder || !per_row ? i : rows[i], s);
         });
    this->merge(out);
  }
};

}  // namespace

std::unique_ptr<AnyRoll> roll_event(std::shared_ptr<const Spec> spec, nb::handle columns,
                                    RollTask task) {
  std::unique_ptr<AnyRoll> made;
  const auto make = [&](const auto& m) {
    using M = std::remove_cvref_t<decltype(m)>;
    made = std::make_unique<EventRoll<M>>(spec, m, columns, task);
  };
  if (!with_component(*spec, make)) with_monoid<Scalars::all>(*spec, make);
  return made;
}

std::unique_ptr<AnyRoll> roll_places(nb::handle columns, bool largest, bool integers,
                                     RollTask task) {
  const auto spec = std::make_shared<const Spec>();
  const auto make = [&]<class S>(std::type_identity<S>) -> std::unique_ptr<AnyRoll> {
    return std::make_unique<EventRoll<sash::Scalar<S>>>(spec, sash::Scalar<S>{}, columns, task);
  };
  if (integers)
    return largest ? make(std::type_identity<PlaceOf<true, std::int64_t>>{})
                   : make(std::type_identity<PlaceOf<false, std::int64_t>>{});
  return largest ? make(std::type_identity<PlaceOf<true, double>>{})
                 : make(std::type_identity<PlaceOf<false, double>>{});
}

}  // namespace sash_py
