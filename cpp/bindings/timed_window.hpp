// AnyTimed: a window of timestamped entries as Python sees it, over an in-order structure
// (TimedOf) or a tree (tree_window.hpp).
#pragma once

#include <limits>

#include "sash/timed.hpp"
#include "window.hpp"

namespace sash_py {

using TimeColumn = nb::ndarray<const std::int64_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

class AnyTimed {
 public:
  virtual ~AnyTimed() = default;
  virtual void insert(std::int64_t t, nb::handle v) = 0;
  virtual void insert_many(TimeColumn times, nb::handle columns) = 0;
  virtual void evict() = 0;
  virtual std::size_t bulk_evict(std::int64_t t) = 0;
  virtual nb::object query() = 0;
  virtual std::size_t size() const = 0;
  virtual std::int64_t oldest() const = 0;
  virtual std::int64_t youngest() const = 0;
  virtual void clear() = 0;
  virtual void check_invariants() = 0;
  // For each row, in the order given: insert it, evict what is not within `span` of the youngest
  // time (by_count: all but the `span` youngest entries), query.
  virtual nb::object slide(TimeColumn times, nb::handle columns, std::int64_t span,
                           bool by_count) = 0;
  virtual nb::list items() = 0;
  virtual std::size_t bytes() const = 0;
  virtual nb::tuple save() = 0;
  virtual const Spec& spec() const = 0;
  virtual void load(nb::bytes numbers, nb::bytes times, nb::bytes cells, nb::list objects) = 0;
};

// Everything up to and including this has left a window (t - span, t] that ends at `youngest`.
inline std::int64_t last_outside(std::int64_t youngest, std::int64_t span, bool& any) {
  std::int64_t t = 0;
  any = !__builtin_sub_overflow(youngest, span, &t);
  return t;
}

template <class Structure>
class TimedOf final : public AnyTimed {
  using M = std::remove_cvref_t<decltype(std::declval<Structure&>().monoid())>;

 public:
  TimedOf(std::shared_ptr<const Spec> spec, const M& m)
      : spec_(std::move(spec)),
        port_(*spec_),
        window_(std::make_unique<sash::Timed<Structure>>(m)),
        out_(monoid()) {}

  void insert(std::int64_t t, nb::handle v) override { window_->insert(t, port_.read(v)); }
  void insert_many(TimeColumn times, nb::handle columns) override {
    Column<M> column(*spec_, columns);
    set_rows(column, times.shape(0));
    whole_column(false, {column.size() * cost()}, [&](RowBlocks& blocks) {
      auto&& in = column.reader();
      blocks.each(column.size(), cost(), [&](std::size_t from, std::size_t to) {
        for (std::size_t i = from; i < to; ++i) window_->insert(times.data()[i], in.at(i));
      });
    });
  }
  void evict() override { window_->evict(); }
  std::size_t bulk_evict(std::int64_t t) override {
    std::size_t n = 0;
    whole_column(false, {}, [&](RowBlocks&) { n = window_->bulk_evict(t); });
    return n;
  }
  nb::object query() override {
    window_->window().query(out_.get());
    return take_lowered(port_, monoid(), out_.get());
  }
  std::size_t size() const override { return window_->size(); }
  const Spec& spec() const override { return *spec_; }
  std::int64_t oldest() const override { return window_->oldest(); }
  std::int64_t youngest() const override { return window_->youngest(); }
  void clear() override {
    window_->clear();
    monoid().set_identity(out_.get());
  }
  void check_invariants() override { window_->check_invariants(); }
  std::size_t bytes() const override { return window_->bytes(); }

  nb::object slide(TimeColumn times, nb::handle columns, std::int64_t span,
                   bool by_count) override {
    Column<M> column(*spec_, columns);
    set_rows(column, times.shape(0));
    Results<M> results(*spec_, column.size());
    const std::size_t reads = linear ? column.size() + 1 : 1;
    whole_column(true, {column.size() * cost(), reads}, [&](RowBlocks& blocks) {
      auto&& in = column.reader();
      auto&& out = results.writer();
      blocks.each(column.size(), cost() * reads, [&](std::size_t from, std::size_t to) {
        for (std::size_t i = from; i < to; ++i) {
          window_->insert(times.data()[i], in.at(i));
          bool any = false;
          if (by_count) {
            while (window_->size() > static_cast<std::size_t>(span)) window_->evict();
          } else if (const std::int64_t t = last_outside(window_->youngest(), span, any); any) {
            window_->bulk_evict(t);
          }
          window_->window().query(out_.get());
          out.put(monoid(), i, out_.get());
        }
      });
      results.done(out);
    });
    return results.take();
  }

  nb::list items() override {
    nb::list all;
    if constexpr (Structure::keeps_values) {
      std::vector<std::int64_t> times;
      window_->for_each_time([&](std::int64_t t) { times.push_back(t); });
      std::size_t i = 0;
      window_->window().for_each([&](const typename M::Cell* cell) {
        all.append(nb::make_tuple(times[i++], lowered<M>(port_, monoid(), Structure::kept, cell)));
      });
    } else {
      raise(PyExc_TypeError, kNoValues);
    }
    return all;
  }

  nb::tuple save() override {
    Saving a;
    window_->archive(a);
    return a.take();
  }
  void load(nb::bytes numbers, nb::bytes times, nb::bytes cells, nb::list objects) override {
    load_archive(*window_, numbers, times, cells, objects);
  }

 private:
  static constexpr bool linear = std::is_same_v<Structure, sash::Recalc<M>>;
  std::size_t cost() const { return row_cost(monoid()); }

  template <class F>
  void whole_column(bool reads_results, Load load, F&& f) {
    all_or_nothing<M>(
        window_, can_fail(monoid(), reads_results), load,
        [](sash::Timed<Structure>& w) { return copy_of(w, w.window().monoid()); }, f);
    monoid().set_identity(out_.get());
  }
  const M& monoid() const { return window_->window().monoid(); }

  std::shared_ptr<const Spec> spec_;
  Port<M> port_;
  std::unique_ptr<sash::Timed<Structure>> window_;
  sash::Held<M> out_;
};

template <template <class> class Structure, Scalars Which>
std::unique_ptr<AnyTimed> make_timed(std::shared_ptr<const Spec> spec) {
  std::unique_ptr<AnyTimed> made;
  with_monoid<Which>(*spec, [&](const auto& m) {
    made = with_structure<Structure>(
        m, [&]<class S>(std::type_identity<S>) -> std::unique_ptr<AnyTimed> {
          return std::make_unique<TimedOf<S>>(spec, m);
        });
  });
  return made;
}

}  // namespace sash_py
