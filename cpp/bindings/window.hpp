// AnyWindow: an in-order structure over some monoid, as Python sees it, and WindowOf, which makes
// one of any structure. One translation unit per structure defines its factory (structures.hpp).
#pragma once

#include "archive.hpp"
#include "copying.hpp"
#include "sash/coarse.hpp"
#include "sash/daba_lite.hpp"
#include "sash/reactive_aggregator.hpp"
#include "sash/recalc.hpp"
#include "sash/two_stacks_lite.hpp"

namespace sash_py {

class AnyWindow {
 public:
  virtual ~AnyWindow() = default;
  virtual void insert(nb::handle v) = 0;
  virtual void evict() = 0;
  virtual nb::object query() = 0;
  virtual std::size_t size() const = 0;
  virtual void clear() = 0;
  virtual void check_invariants() = 0;
  virtual void insert_many(nb::handle columns, std::size_t rows) = 0;
  virtual void evict_many(std::size_t k) = 0;
  // For each row: insert it, evict the oldest when more than `size` are in the window, query.
  virtual nb::object slide(nb::handle columns, std::size_t rows, std::size_t size) = 0;
  virtual nb::list items() const = 0;
  virtual std::size_t partials() const = 0;
  virtual std::size_t bytes() const = 0;
  virtual nb::tuple save() = 0;
  virtual void load(nb::bytes numbers, nb::bytes times, nb::bytes cells, nb::list objects) = 0;
  virtual std::uint64_t next_ticket() const { return 0; }
  virtual bool evict_ticket(std::uint64_t) { return false; }
  virtual const Spec& spec() const = 0;
};

// Runs f without the GIL where the monoid needs no Python.
template <class M, class F>
void unlocked(F&& f) {
  if constexpr (Port<M>::native) {
    nb::gil_scoped_release release;
    f();
  } else {
    f();
  }
}

// The rows of a column call, in blocks between which it can be interrupted.
class RowBlocks {
 public:
  explicit RowBlocks(bool interrupted) : interrupted_(interrupted) {}
  // Calls f(from, to) until all of n rows have been. cost: what a row takes, in rows of a simple one.
  template <class F>
  void each(std::size_t n, std::size_t cost, F&& f) {
    if (interrupted_) sash::in_blocks(poll_, n, cost, f);
    else if (n != 0) f(std::size_t{0}, n);
  }

 private:
  bool interrupted_;
  sash::Poll poll_;
};

// What a row costs in a structure over this monoid, in rows of a small aggregate.
template <class M>
std::size_t row_cost(const M& m) {
  return 1 + m.state_cells() / 16;
}

// What a column call has to do: rows come in, counted as those of a small state, and each of them
// takes the work of so many insertions at an end.
struct Load {
  std::size_t rows = 0, work = 1;
};
inline constexpr std::size_t kLogarithmic = 8;  // the work of a structure that climbs a tree

// Runs f(blocks) on a column of rows. Where that can fail midway (Python functions that raise,
// results that overflow), and where it takes so long that a signal may interrupt it, it works on a
// copy, and on failure the untouched window is put back.
template <class M, class Structure, class Copy, class F>
void all_or_nothing(std::unique_ptr<Structure>& window, bool can_fail, Load load, Copy&& copy,
                    F&& f) {
  const bool undone = can_fail || sash::Poll::worth_copying(load.rows, load.work, window->size());
  RowBlocks blocks(undone);
  std::unique_ptr<Structure> kept;
  try {
    unlocked<M>([&] {
      if (undone) kept = std::exchange(window, copy(*window));
      f(blocks);
    });
  } catch (...) {
    if (kept != nullptr) window = std::move(kept);
    throw;
  }
}

// Whether a column call can fail midway: always with Python functions, with native monoids only
// where results are read and one may not fit.
template <class M>
bool can_fail(const M& m, bool reads_results) {
  if constexpr (Port<M>::native) return reads_results && m.overflows();
  else return true;
}

// Fills an empty structure from what save() gave; empty again when that is damaged.
template <class Structure>
void load_archive(Structure& window, nb::bytes numbers, nb::bytes times, nb::bytes cells,
                  nb::list objects) {
  Loading a(numbers, times, cells, objects);
  try {
    window.archive(a);
    a.finish();
  } catch (...) {
    window.clear();
    throw;
  }
}

// The same structure again, entry by entry.
template <class Structure, class... Args>
std::unique_ptr<Structure> copy_of(Structure& window, Args&&... args) {
  auto fresh = std::make_unique<Structure>(std::forward<Args>(args)...);
  if constexpr (requires { window.copy_to(*fresh); }) {
    window.copy_to(*fresh);
    return fresh;
  }
  Listed listed;
  window.archive(listed);
  Copying copying(listed);
  fresh->archive(copying);
  return fresh;
}

inline constexpr const char* kNoValues =
    "this structure stores partial aggregates, not the values they were made of: it cannot be "
    "iterated (TwoStacks, Daba, ReactiveAggregator and FingerTree can)";

template <class M>
void set_rows(Column<M>& column, std::size_t rows) {
  if constexpr (requires { column.set_size(rows); }) column.set_size(rows);
}

template <class M>
nb::object lowered(Port<M>& port, const M& m, sash::Holds kept, const typename M::Cell* cell) {
  if (kept == sash::Holds::state) return port.lower(m, cell);
  sash::Held<M> state(m);
  m.to_state(state.get(), cell);
  return port.lower(m, state.get());
}

// The result of a state that is then given up: a window keeps no state but those in it.
template <class M>
nb::object take_lowered(Port<M>& port, const M& m, typename M::Cell* state) {
  if constexpr (Port<M>::native) {
    return port.lower(m, state);
  } else {
    nb::object result = port.lower(m, state);
    m.set_identity(state);
    return result;
  }
}

template <class Structure>
class WindowOf final : public AnyWindow {
  using M = std::remove_cvref_t<decltype(std::declval<Structure&>().monoid())>;

 public:
  WindowOf(std::shared_ptr<const Spec> spec, const M& m)
      : spec_(std::move(spec)),
        port_(*spec_),
        window_(std::make_unique<Structure>(m)),
        out_(window_->monoid()) {}

  // Flattened: one call from Python is one function here.
  [[gnu::flatten]] void insert(nb::handle v) override { window_->insert(port_.read(v)); }
  [[gnu::flatten]] void evict() override { window_->evict(); }
  [[gnu::flatten]] nb::object query() override {
    window_->query(out_.get());
    return take_lowered(port_, window_->monoid(), out_.get());
  }
  std::size_t size() const override { return window_->size(); }
  const Spec& spec() const override { return *spec_; }
  void clear() override {
    window_->clear();
    window_->monoid().set_identity(out_.get());  // where a failed query left what it had so far
  }
  void check_invariants() override { window_->check_invariants(); }
  std::size_t partials() const override { return window_->partials(); }
  std::size_t bytes() const override { return window_->bytes(); }

  void insert_many(nb::handle columns, std::size_t rows) override {
    Column<M> column(*spec_, columns);
    set_rows(column, rows);
    whole_column(false, {column.size() * cost(), kWork}, [&](RowBlocks& blocks) {
      auto&& rows_in = column.reader();
      blocks.each(column.size(), cost(), [&](std::size_t from, std::size_t to) {
        for (std::size_t i = from; i < to; ++i) window_->insert(rows_in.at(i));
      });
    });
  }

  void evict_many(std::size_t k) override {
    whole_column(false, {}, [&](RowBlocks& blocks) {
      if constexpr (requires { window_->evict_many(k); }) return window_->evict_many(k);
      blocks.each(k, cost(), [&](std::size_t from, std::size_t to) {
        for (; from < to; ++from) window_->evict();
      });
    });
  }

  nb::object slide(nb::handle columns, std::size_t rows, std::size_t size) override {
    Column<M> column(*spec_, columns);
    set_rows(column, rows);
    Results<M> results(*spec_, column.size());
    const std::size_t reads = linear ? std::min(size, column.size()) + 1 : 1;
    const Load load{column.size() * cost(), kWork * reads};
    whole_column(true, load, [&](RowBlocks& blocks) {
      blocks.each(column.size(), cost() * reads, [&](std::size_t from, std::size_t to) {
        if constexpr (M::nothrow) slide_flat(column, from, to, size, results);
        else slide_rows(column, from, to, size, results);
      });
    });
    return results.take();
  }

  nb::list items() const override {
    nb::list all;
    if constexpr (Structure::keeps_values) {
      auto port = port_;
      window_->for_each([&](const typename M::Cell* cell) {
        all.append(lowered<M>(port, window_->monoid(), Structure::kept, cell));
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

  std::uint64_t next_ticket() const override {
    if constexpr (requires { window_->next_ticket(); }) return window_->next_ticket();
    else return 0;
  }
  bool evict_ticket(std::uint64_t ticket) override {
    if constexpr (requires { window_->evict(ticket); }) return window_->evict(ticket);
    else return false;
  }

 private:
  // Whether a query reads all entries.
  static constexpr bool linear = std::is_same_v<Structure, sash::Recalc<M>>;
  static constexpr std::size_t kWork =
      std::is_same_v<Structure, sash::ReactiveAggregator<M>> ? kLogarithmic : 1;
  std::size_t cost() const { return row_cost(window_->monoid()); }

  template <class F>
  void whole_column(bool reads_results, Load load, F&& f) {
    all_or_nothing<M>(
        window_, can_fail(window_->monoid(), reads_results), load,
        [](Structure& w) { return copy_of(w, w.monoid()); }, f);
    window_->monoid().set_identity(out_.get());
  }
  void slide_rows(Column<M>& column, std::size_t from, std::size_t to, std::size_t size,
                  Results<M>& results) {
    auto&& in = column.reader();
    auto&& out = results.writer();
    for (std::size_t i = from; i < to; ++i) {
      round(in, i, size);
      out.put(window_->monoid(), i, out_.get());
    }
    results.done(out);
  }
  // The same with everything inlined into one loop, which halves the time of a small aggregate.
  [[gnu::flatten]] void slide_flat(Column<M>& column, std::size_t from, std::size_t to,
                                   std::size_t size, Results<M>& results) {
    slide_rows(column, from, to, size, results);
  }
  void round(auto&& in, std::size_t i, std::size_t size) {
    window_->insert(in.at(i));
    while (window_->size() > size) window_->evict();
    window_->query(out_.get());
  }
  std::shared_ptr<const Spec> spec_;
  Port<M> port_;
  std::unique_ptr<Structure> window_;
  sash::Held<M> out_;
};

template <template <class> class Structure>
inline constexpr bool is_lite =
    std::is_same_v<Structure<sash::Record>, sash::TwoStacksLite<sash::Record>> ||
    std::is_same_v<Structure<sash::Record>, sash::DabaLite<sash::Record>>;

// Calls f with the type that serves a structure over a monoid: itself, or for a Lite structure of
// big native states its coarse form.
template <template <class> class Structure, class M, class F>
auto with_structure(const M& m, F&& f) {
  if constexpr (std::is_same_v<M, sash::Record> && is_lite<Structure>) {
    using Blocks = sash::Coarse<Structure, M>;
    if (Blocks::pays(m)) return f(std::type_identity<Blocks>{});
  }
  return f(std::type_identity<Structure<M>>{});
}

// The window of a structure for the monoid of a spec.
template <template <class> class Structure, Scalars Which>
std::unique_ptr<AnyWindow> make_window(std::shared_ptr<const Spec> spec) {
  std::unique_ptr<AnyWindow> made;
  with_monoid<Which>(*spec, [&](const auto& m) {
    made = with_structure<Structure>(
        m, [&]<class S>(std::type_identity<S>) -> std::unique_ptr<AnyWindow> {
          return std::make_unique<WindowOf<S>>(spec, m);
        });
  });
  return made;
}

}  // namespace sash_py
