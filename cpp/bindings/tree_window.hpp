// AnyTree: a tree of timestamped entries, in any order, as Python sees it.
#pragma once

#include "sash/finger_tree.hpp"
#include "timed_window.hpp"

namespace sash_py {

class AnyTree : public AnyTimed {
 public:
  virtual bool evict_at(std::int64_t t) = 0;
  virtual nb::object query_between(std::int64_t from, std::int64_t to) = 0;
  virtual int height() const = 0;
  virtual sash::TreeShape shape() const = 0;
};

template <class M, bool Fingers>
class TreeOf final : public AnyTree {
  using Structure = sash::Tree<M, Fingers>;
  using Cell = typename M::Cell;

 public:
  TreeOf(std::shared_ptr<const Spec> spec, const M& m, sash::TreeShape shape)
      : spec_(std::move(spec)),
        port_(*spec_),
        tree_(std::make_unique<Structure>(m, shape)),
        out_(tree_->monoid()) {}

  void insert(std::int64_t t, nb::handle v) override { tree_->insert(t, port_.read(v)); }
  // Times must ascend; the Python side has sorted them. The tree takes all rows or none. It works on
  // a copy of the times: another thread, or a function of the aggregate, may write to the array.
  void insert_many(TimeColumn times, nb::handle columns) override {
    Column<M> column(*spec_, columns);
    set_rows(column, times.shape(0));
    const std::vector<std::int64_t> at(times.data(), times.data() + times.shape(0));
    if (!std::is_sorted(at.begin(), at.end()))
      raise(PyExc_ValueError, "the times changed while they were read; pass a copy of them");
    const auto run = [&](RowBlocks& blocks) {
      auto&& in = column.reader();
      insert_blocks(*tree_, at, blocks,
                    [&](std::size_t i, Cell* to) { tree_->monoid().lift(to, in.at(i)); });
    };
    if constexpr (Port<M>::native) {
      all_or_nothing<M>(tree_, false, load(at.size()), copy_of_tree, run);
    } else {  // undone by the tree itself
      RowBlocks blocks(false);
      run(blocks);
    }
  }
  void evict() override { tree_->evict(); }
  bool evict_at(std::int64_t t) override { return tree_->evict(t); }
  std::size_t bulk_evict(std::int64_t t) override { return tree_->bulk_evict(t); }
  nb::object query() override {
    tree_->query(out_.get());
    return take_lowered(port_, tree_->monoid(), out_.get());
  }
  nb::object query_between(std::int64_t from, std::int64_t to) override {
    tree_->query(from, to, out_.get());
    return take_lowered(port_, tree_->monoid(), out_.get());
  }
  std::size_t size() const override { return tree_->size(); }
  const Spec& spec() const override { return *spec_; }
  std::int64_t oldest() const override { return tree_->oldest(); }
  std::int64_t youngest() const override { return tree_->youngest(); }
  void clear() override {
    tree_->clear();
    tree_->monoid().set_identity(out_.get());
  }
  void check_invariants() override { tree_->check_invariants(); }
  std::size_t bytes() const override { return tree_->bytes(); }
  int height() const override { return tree_->height(); }
  sash::TreeShape shape() const override { return tree_->shape(); }

  nb::object slide(TimeColumn times, nb::handle columns, std::int64_t span,
                   bool by_count) override {
    Column<M> column(*spec_, columns);
    set_rows(column, times.shape(0));
    Results<M> results(*spec_, column.size());
    whole_column(true, load(column.size()), [&](RowBlocks& blocks) {
      auto&& in = column.reader();
      auto&& out = results.writer();
      const std::size_t each = row_cost(tree_->monoid());
      blocks.each(column.size(), each, [&](std::size_t from, std::size_t to) {
        for (std::size_t i = from; i < to; ++i) {
          tree_->insert(times.data()[i], in.at(i));
          if (by_count) keep_youngest(static_cast<std::size_t>(span));
          else keep_within(span);
          tree_->query(out_.get());
          out.put(tree_->monoid(), i, out_.get());
        }
      });
      results.done(out);
    });
    return results.take();
  }

  nb::list items() override {
    nb::list all;
    tree_->for_each([&](std::int64_t t, const Cell* entry) {
      all.append(nb::make_tuple(t, lowered<M>(port_, tree_->monoid(), sash::Holds::entry, entry)));
    });
    return all;
  }

  nb::tuple save() override {
    Saving a;
    a.count(tree_->size(), tree_->monoid());
    tree_->for_each([&](std::int64_t t, const Cell* entry) {
      a.time(t);
      a.entry(tree_->monoid(), entry);
    });
    return a.take();
  }
  void load(nb::bytes numbers, nb::bytes times, nb::bytes cells, nb::list objects) override {
    Loading a(numbers, times, cells, objects);
    try {
      std::size_t n = 0;
      a.count(n, tree_->monoid());
      std::vector<std::int64_t> at(n);
      for (std::size_t i = 0; i < n; ++i) {
        a.time(at[i]);
        a.require(i == 0 || at[i] > at[i - 1], "times do not ascend");
      }
      RowBlocks blocks(Port<M>::native);
      insert_blocks(*tree_, at, blocks,
                    [&](std::size_t, Cell* to) { a.entry(tree_->monoid(), to); });
      a.finish();
    } catch (...) {
      tree_->clear();
      throw;
    }
  }

 private:
  // Inserts a batch in parts between which it can be interrupted. lift(i, to) writes entry i.
  template <class Lift>
  static void insert_blocks(Structure& tree, const std::vector<std::int64_t>& times,
                            RowBlocks& blocks, Lift&& lift) {
    const std::size_t each = row_cost(tree.monoid());
    blocks.each(times.size(), each, [&](std::size_t from, std::size_t to) {
      tree.bulk_insert(times.data() + from, to - from,
                       [&](std::size_t i, Cell* at) { lift(from + i, at); });
    });
  }
  static std::unique_ptr<Structure> copy_of_tree(Structure& from) {
    std::vector<std::int64_t> times;
    std::vector<const Cell*> entries;
    from.for_each([&](std::int64_t t, const Cell* e) {
      times.push_back(t);
      entries.push_back(e);
    });
    auto fresh = std::make_unique<Structure>(from.monoid(), from.shape());
    RowBlocks blocks(Port<M>::native);
    insert_blocks(*fresh, times, blocks,
                  [&](std::size_t i, Cell* to) { fresh->monoid().copy_entry(to, entries[i]); });
    return fresh;
  }
  Load load(std::size_t rows) const { return {rows * row_cost(tree_->monoid()), kLogarithmic}; }
  template <class F>
  void whole_column(bool reads_results, Load load, F&& f) {
    all_or_nothing<M>(tree_, can_fail(tree_->monoid(), reads_results), load, copy_of_tree, f);
    tree_->monoid().set_identity(out_.get());
  }
  void keep_youngest(std::size_t n) {
    while (tree_->size() > n) tree_->evict();
  }
  // Mostly one entry leaves when one comes in; a gap in time drops the rest at once.
  void keep_within(std::int64_t span) {
    bool any = false;
    const std::int64_t t = last_outside(tree_->youngest(), span, any);
    if (!any || tree_->oldest() > t) return;
    tree_->evict();
    if (!tree_->empty() && tree_->oldest() <= t) tree_->bulk_evict(t);
  }

  std::shared_ptr<const Spec> spec_;
  Port<M> port_;
  std::unique_ptr<Structure> tree_;
  sash::Held<M> out_;
};

template <bool Fingers>
std::unique_ptr<AnyTree> make_tree(std::shared_ptr<const Spec> spec, unsigned leaf,
                                   unsigned fanout) {
  std::unique_ptr<AnyTree> made;
  with_monoid<Fingers ? Scalars::all : Scalars::few>(*spec, [&](const auto& m) {
    using M = std::remove_cvref_t<decltype(m)>;
    sash::TreeShape shape = sash::default_shape(m);
    if (leaf != 0) shape.leaf = leaf;
    if (fanout != 0) shape.fanout = fanout;
    made = std::make_unique<TreeOf<M, Fingers>>(spec, m, shape);
  });
  return made;
}

}  // namespace sash_py
