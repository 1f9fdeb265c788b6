// The window operator as Python sees it.
#pragma once

#include <nanobind/stl/optional.h>
#include <nanobind/stl/vector.h>

#include <memory>

#include "archive.hpp"
#include "arrays.hpp"
#include "holder.hpp"
#include "outcomes.hpp"
#include "sash/slicing/window_operator.hpp"
#include "timed_window.hpp"

namespace sash_py {

namespace slicing = sash::slicing;
using IdColumn = nb::ndarray<const std::uint32_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

using Function = std::shared_ptr<nb::object>;

class AnyOperator {
 public:
  virtual ~AnyOperator() = default;
  virtual const Spec& spec() const = 0;
  virtual std::int64_t add_window(slicing::Window w) = 0;
  // function: what its `starts` calls, if anything.
  virtual std::int64_t add_row_window(slicing::RowWindow w, Function function) = 0;
  virtual void list_window(int id, std::vector<std::int64_t> starts,
                           std::vector<std::int64_t> ends) = 0;
  virtual void remove_window(int id) = 0;
  // Both return show(what is to be emitted); process also which rows are dropped. When show raises,
  // nothing has changed.
  virtual nb::tuple process(std::optional<IdColumn> ids, std::size_t keys, TimeColumn times,
                            nb::handle columns, const std::vector<TimeColumn>& marks,
                            std::optional<std::int64_t> ceiling, nb::object show) = 0;
  virtual nb::object advance(std::int64_t watermark, nb::object show) = 0;
  virtual nb::object query(std::uint32_t id, std::int64_t from, std::int64_t to) = 0;
  virtual nb::tuple windows(IdColumn ids) = 0;
  virtual nb::object cuts(std::uint32_t id, std::int64_t t) = 0;
  virtual std::int64_t time(int which) const = 0;
  virtual std::uint64_t count(bool late) const = 0;
  virtual std::uint64_t commits() const = 0;
  virtual bool journalled() const = 0;
  virtual void visit(visitproc visit, void* arg) const = 0;
  virtual bool live(std::uint32_t id) const = 0;
  virtual nb::dict facts() = 0;
  virtual nb::object slices(std::uint32_t id) = 0;
  virtual nb::object take_forgotten() = 0;
  virtual nb::tuple save(bool all) = 0;
  virtual void saved() = 0;
  virtual void unsaved() = 0;
  virtual void load(nb::bytes numbers, nb::bytes times, nb::bytes cells, nb::list objects,
                    IdColumn saved, IdColumn here) = 0;
  virtual void drop(IdColumn ids) = 0;
  virtual void settle() = 0;
  virtual void follow() = 0;
  // Slices that travel: (keys, first times, last times, cells, objects).
  virtual nb::tuple slices_out() = 0;
  virtual nb::object merge(std::optional<IdColumn> ids, std::size_t keys, TimeColumn firsts,
                           TimeColumn lasts, nb::bytes cells, nb::list objects,
                           nb::object show) = 0;
};

template <class M>
class OperatorOf final : public AnyOperator {
  using Operator = slicing::WindowOperator<M>;
  using Emission = slicing::Emission<M>;

 public:
  OperatorOf(std::shared_ptr<const Spec> spec, const M& m, slicing::Settings settings)
      : spec_(std::move(spec)), op_(m, settings) {}

  const Spec& spec() const override { return *spec_; }
  std::int64_t add_window(slicing::Window w) override { return op_.add_window(std::move(w)); }
  std::int64_t add_row_window(slicing::RowWindow w, Function function) override {
    if (function) functions_.push_back(std::move(function));
    return op_.add_window(std::move(w));
  }
  void visit(visitproc visit, void* arg) const override {
    for (const Function& f : functions_) visit(f->ptr(), arg);
  }
  void list_window(int id, std::vector<std::int64_t> starts,
                   std::vector<std::int64_t> ends) override {
    op_.list_window(id, std::move(starts), std::move(ends));
  }
  void remove_window(int id) override { op_.remove_window(id); }

  nb::tuple process(std::optional<IdColumn> ids, std::size_t keys, TimeColumn times,
                    nb::handle columns, const std::vector<TimeColumn>& marks,
                    std::optional<std::int64_t> ceiling, nb::object show) override {
    Column<M> column(*spec_, columns);
    set_rows(column, times.shape(0));
    const std::size_t n = times.shape(0);
    if (n >= std::size_t{1} << 32) raise(PyExc_ValueError, "a batch has at most 2^32 - 1 rows");
    if (ids && ids->shape(0) != n) raise(PyExc_ValueError, "keys and times differ in length");
    if (column.size() != n) raise(PyExc_ValueError, "values and times differ in length");
    for (std::size_t i = 0; ids && i < n; ++i)
      if (ids->data()[i] >= keys) raise(PyExc_ValueError, "a key's number is out of range");
    std::vector<const std::int64_t*> words;
    for (const TimeColumn& c : marks) {
      if (c.shape(0) != n) raise(PyExc_ValueError, "marks and times differ in length");
      words.push_back(c.data());
    }
    op_.make_room(keys);
    op_.give_up_room(keys);
    std::vector<std::uint32_t> late;
    nb::object shown;
    const auto run = [&] {
      auto&& in = column.reader();
      // A copy: times are read more than once, and another thread may write to the array.
      const std::vector<std::int64_t> at(times.data(), times.data() + n);
      op_.process(ids ? ids->data() : nullptr, at.data(), n, in, words,
                  ceiling.value_or(slicing::kForever),
                  [&](const Emission& e, const std::vector<std::uint32_t>& rows) {
                    late = rows;
                    shown = show_held(show, e);
                  });
    };
    unlocked<M>(run);
    return nb::make_tuple(shown, array_of(std::move(late)));
  }
  nb::object advance(std::int64_t watermark, nb::object show) override {
    nb::object shown;
    const auto run = [&] {
      op_.advance(watermark, [&](const Emission& e) { shown = show_held(show, e); });
    };
    unlocked<M>(run);
    return shown;
  }
  nb::object query(std::uint32_t id, std::int64_t from, std::int64_t to) override {
    Emission one(op_.monoid());
    one.outcomes.push(id < op_.room() ? op_.query(id, from, to) : op_.identity());
    if constexpr (Port<M>::native) return results_of(one);
    else return lowered_all(one);
  }
  nb::tuple windows(IdColumn ids) override { return told(op_.list(ids.data(), ids.shape(0))); }
  nb::object cuts(std::uint32_t id, std::int64_t t) override {
    slicing::Bounds slice;
    if (id >= op_.room() || !op_.cuts(id, t, slice)) return nb::none();
    return nb::make_tuple(slice.begin, slice.end);
  }
  bool live(std::uint32_t id) const override { return id < op_.room() && op_.key(id).live; }
  std::int64_t time(int which) const override {
    const std::int64_t all[] = {op_.watermark(), op_.limit(), op_.latest(), op_.kept_from(),
                                op_.next_due()};
    return all[which];
  }
  std::uint64_t count(bool late) const override {
    return late ? op_.counts().late : op_.counts().accepted;
  }
  std::uint64_t commits() const override { return op_.commits(); }
  bool journalled() const override { return op_.journalled(); }
  nb::dict facts() override {
    std::size_t slices = 0, keys = 0, eager = 0, sayings = 0, rows = 0, bytes = 0;
    for (std::uint32_t id = 0; id < op_.room(); ++id) {
      const auto& key = op_.key(id);
      bytes += sizeof key;
      if (!key.live) continue;
      ++keys;
      slices += key.store.size();
      eager += key.store.eager();
      bytes += key.store.bytes(op_.monoid());
      for (const auto& s : key.sessions) bytes += sizeof s + s.size() * sizeof(slicing::Interval);
      for (const auto& track : key.tracks) {
        rows += track.rows.size();
        for (const slicing::RowSaying& s : track.told) sayings += s.complete;
        bytes += sizeof track + track.rows.bytes(op_.monoid()) +
                 track.told.capacity() * sizeof(slicing::RowSaying) + track.outcomes.bytes();
      }
      if (!key.told) continue;
      for (const slicing::Saying& s : key.told->sayings)
        sayings += s.standing && s.due <= op_.watermark();
      bytes += sizeof *key.told + key.told->sayings.capacity() * sizeof(slicing::Saying) +
               key.told->outcomes.bytes();
    }
    nb::dict d;
    d["keys"] = keys;
    d["slices"] = slices;
    d["eager"] = eager;
    d["sayings"] = sayings;
    d["rows"] = rows;
    d["bytes"] = bytes;
    d["by_time"] = op_.by_time();
    return d;
  }
  nb::object slices(std::uint32_t id) override {
    std::vector<std::int64_t> times;
    if (id < op_.room())
      op_.key(id).store.for_each(
          op_.monoid(), [&](std::int64_t t, const typename M::Cell*) { times.push_back(t); });
    return array_of(std::move(times));
  }
  nb::object take_forgotten() override {
    std::vector<std::uint32_t> ids = op_.take_forgotten();
    return_memory(kSlicesOfKey * ids.size());
    return array_of(std::move(ids));
  }

  nb::tuple save(bool all) override {
    Saving a;
    std::vector<std::uint32_t> ids = op_.save(a, all);
    return nb::make_tuple(a.take(), array_of(std::move(ids)));
  }
  void saved() override { op_.saved(); }
  void unsaved() override { op_.unsaved(); }
  void load(nb::bytes numbers, nb::bytes times, nb::bytes cells, nb::list objects, IdColumn saved,
            IdColumn here) override {
    if (saved.shape(0) != here.shape(0)) raise(PyExc_ValueError, "keys differ in number");
    slicing::KeyNumbers keys;
    for (std::size_t i = 0; i < saved.shape(0); ++i) keys[saved.data()[i]] = here.data()[i];
    Loading a(numbers, times, cells, objects);
    op_.load(a, keys);
    a.finish();
  }
  void drop(IdColumn ids) override {
    for (std::size_t i = 0; i < ids.shape(0); ++i) op_.drop(ids.data()[i]);
  }
  void settle() override { op_.settle(); }
  void follow() override { op_.follow(); }

  nb::tuple slices_out() override {
    Saving a;
    std::vector<std::uint32_t> ids;
    std::vector<std::int64_t> firsts, lasts;
    op_.each_slice([&](std::uint32_t id, std::int64_t first, std::int64_t last,
                       const typename M::Cell* state) {
      ids.push_back(id);
      firsts.push_back(first);
      lasts.push_back(last);
      a.state(op_.monoid(), state);
    });
    const nb::tuple saved = a.take();
    return nb::make_tuple(array_of(std::move(ids)), array_of(std::move(firsts)),
                          array_of(std::move(lasts)), saved[2], saved[3]);
  }
  nb::object merge(std::optional<IdColumn> ids, std::size_t keys, TimeColumn firsts,
                   TimeColumn lasts, nb::bytes cells, nb::list objects, nb::object show) override {
    const std::size_t n = firsts.shape(0);
    if (lasts.shape(0) != n || (ids && ids->shape(0) != n))
      raise(PyExc_ValueError, "slices differ in number");
    const auto key = [&](std::size_t i) { return ids ? ids->data()[i] : 0; };
    for (std::size_t i = 0; i < n; ++i) {
      if (key(i) >= keys) raise(PyExc_ValueError, "a key's number is out of range");
      const bool follows = i > 0 && key(i) == key(i - 1);
      if (firsts.data()[i] < -slicing::kReach || lasts.data()[i] > slicing::kReach)
        raise(PyExc_ValueError, "a slice is out of reach");
      if (lasts.data()[i] < firsts.data()[i] ||
          (follows && firsts.data()[i] < firsts.data()[i - 1]))
        raise(PyExc_ValueError, "slices are not in order of time");
    }
    if (Port<M>::native ? cells.size() != n * op_.monoid().state_cells() * sizeof(typename M::Cell)
                        : objects.size() != n)
      raise(PyExc_ValueError, "slices and states differ in number");
    op_.make_room(keys);
    op_.give_up_room(keys);
    Loading a(nb::bytes("", 0), nb::bytes("", 0), cells, objects);
    nb::object shown;
    op_.merge(
        ids ? ids->data() : nullptr, firsts.data(), lasts.data(), n,
        [&](std::size_t, typename M::Cell* to) { a.state(op_.monoid(), to); },
        [&](const Emission& e) { shown = show(told(e)); });
    return shown;
  }

 private:
  static constexpr std::size_t kSlicesOfKey = 8;  // and other things, about
  static nb::list lowered_all(const Emission& e)
    requires(!Port<M>::native)
  {
    nb::list all;
    for (std::size_t i = 0; i < e.outcomes.size(); ++i) all.append(e.outcomes.lower(i));
    return all;
  }
  nb::object results_of(const Emission& e) {
    const auto& from = e.outcomes;
    const std::size_t n = from.size();
    NativeResults results(n, from.widths());
    std::size_t offset = 0;
    for (std::size_t c = 0; c < from.widths().size(); ++c) {
      const std::size_t width = from.widths()[c];
      bool nulls = false;
      for (std::size_t i = 0; i < n; ++i) {
        std::copy_n(from.results(i) + offset, width, results.at(c, i));
        results.valid(c)[i] = from.there(i, c);
        nulls |= !from.there(i, c);
      }
      results.set_nulls(c, nulls);
      offset += width;
    }
    return results.take();
  }
  nb::object show_held(const nb::object& show, const Emission& e) {
    nb::gil_scoped_acquire held;
    return show(told(e));
  }
  nb::tuple told(const Emission& e) {
    nb::object results;
    if constexpr (Port<M>::native) results = results_of(e);
    else results = lowered_all(e);
    const std::size_t n = e.rows.size();
    std::vector<std::uint32_t> keys(n);
    std::vector<std::int32_t> windows(n), revisions(n);
    std::vector<std::int64_t> starts(n), ends(n);
    std::vector<std::uint8_t> changes(n);
    for (std::size_t i = 0; i < n; ++i) {
      const auto& row = e.rows[i];
      keys[i] = row.key;
      windows[i] = row.said.window;
      revisions[i] = row.said.revision;
      starts[i] = row.start;
      ends[i] = row.end;
      changes[i] = static_cast<std::uint8_t>(row.change);
    }
    return nb::make_tuple(array_of(std::move(keys)), array_of(std::move(windows)),
                          array_of(std::move(starts)), array_of(std::move(ends)),
                          array_of(std::move(revisions)), array_of(std::move(changes)), results);
  }

  std::shared_ptr<const Spec> spec_;
  std::vector<Function> functions_;  // of windows that a user's function cuts
  Operator op_;
};

std::unique_ptr<AnyOperator> make_operator(std::shared_ptr<const Spec> spec,
                                           slicing::Settings settings);

}  // namespace sash_py
