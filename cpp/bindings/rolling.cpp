// Rolling for Python: _core.Layout, _core.Frames and _core.Roll, and the kernels for order
// statistics and value counts, which are not monoids.
#include "rolling.hpp"

#include "arrays.hpp"
#include "families.hpp"
#include "sash/rolling/order_statistics.hpp"
#include "sash/rolling/value_counts.hpp"

namespace sash_py {
namespace {

namespace rolling = sash::rolling;

// keys are codes in [0, groups), or none; times may be none too: rows then keep their order.
std::shared_ptr<Layout> make_layout(std::size_t rows, std::optional<CodeArray> keys,
                                    std::size_t groups, std::optional<TimeArray> times,
                                    bool arrival) {
  if (rows >= std::size_t{1} << 32)
    raise(PyExc_ValueError, "a rolling call takes at most 2^32 - 1 rows; split the table by key");
  if ((keys && keys->shape(0) != rows) || (times && times->shape(0) != rows))
    raise(PyExc_ValueError, "keys and times must have one value for each row");
  const std::int32_t* codes = keys ? keys->data() : nullptr;
  const std::int64_t* given = times ? times->data() : nullptr;
  auto layout = std::make_shared<Layout>();
  if (times) layout->given = nb::cast(*times);
  nb::gil_scoped_release release;
  sash::Poll poll;
  for (std::size_t i = 0; codes != nullptr && i < rows; ++i)
    if (codes[i] < 0 || static_cast<std::size_t>(codes[i]) >= groups)
      throw std::logic_error("a key's code is out of range");
  layout->rows = rows;
  layout->order = rolling::sort_rows(codes, groups, given, rows);
  layout->times = given;
  if (given != nullptr && layout->order.rows) {
    layout->sorted.resize(rows);
    sash::in_blocks(poll, rows, 1, [&](std::size_t i, std::size_t stop) {
      for (; i < stop; ++i) layout->sorted[i] = given[layout->row(i)];
    });
    layout->times = layout->sorted.data();
  }
  if (arrival) {
    layout->arrival = rolling::sort_rows(codes, groups, nullptr, rows);
    if (layout->order.rows) {
      layout->positions.resize(rows);
      sash::in_blocks(poll, rows, 1, [&](std::size_t p, std::size_t stop) {
        for (; p < stop; ++p) layout->positions[layout->row(p)] = static_cast<std::uint32_t>(p);
      });
    }
  }
  return layout;
}

using FramesPtr = std::shared_ptr<const rolling::Frames>;
// What keeps the memory that frames point into.
struct FramesOf {
  FramesPtr frames;
  std::shared_ptr<const Layout> layout;
  std::vector<nb::object> kept;
};

// ---- order statistics ---------------------------------------------------------------------------
class RankRoll final : public AnyRoll {
 public:
  RankRoll(RollTask task, std::vector<rolling::Question> questions, bool integers, WordColumn words,
           std::optional<ByteColumn> valid)
      : AnyRoll(std::move(task)),
        questions_(std::move(questions)),
        integers_(integers),
        words_(words.data()),
        valid_(valid ? valid->data() : nullptr),
        results_(task_.outputs(), std::vector<std::size_t>(questions_.size(), 1)) {
    kept_.push_back(nb::cast(std::move(words)));
    if (valid) kept_.push_back(nb::cast(std::move(*valid)));
  }
  void run(std::size_t from, std::size_t to) override {
    nb::gil_scoped_release release;
    Set set(*this);
    std::vector<char> nulls(questions_.size());
    if (task_.arrival) {
      in_arrival_order(
          from, to, [&](std::size_t first, std::size_t last) { set.prepare(first, last); },
          [&](std::size_t p) { set.add(p); }, [&](std::size_t p) { set.remove(p); },
          [&](std::size_t p, std::size_t size) {
            answer(set, p, task_.layout->row(p), size >= task_.least, nulls);
          });
    } else {
      rolling::roll_event_set(
          set, *task_.frames, from, to, task_.least,
          [&](std::size_t i, bool enough) { answer(set, i, task_.place(i), enough, nulls); });
    }
    const std::lock_guard<std::mutex> lock(merging_);
    for (std::size_t q = 0; q < nulls.size(); ++q)
      if (nulls[q]) results_.set_nulls(q, true);
  }
  nb::object take() override { return results_.take(); }

 private:
  struct Set : rolling::OrderStatistics {
    explicit Set(const RankRoll& r) : OrderStatistics(r.questions_, r.integers_), roll(r) {}
    void prepare(std::size_t begin, std::size_t end) {
      const auto row = [this](std::size_t p) { return roll.task_.layout->row(p); };
      OrderStatistics::prepare(
          begin, end,
          [&](std::size_t p) {
            const Word w = roll.words_[row(p)];
            return roll.integers_ ? rolling::ordered_key(static_cast<std::int64_t>(w))
                                  : rolling::ordered_key(std::bit_cast<double>(w));
          },
          [&](std::size_t p) { return roll.valid_ == nullptr || roll.valid_[row(p)] != 0; });
    }
    const RankRoll& roll;
  };
  void answer(Set& set, std::size_t position, std::size_t place, bool enough,
              std::vector<char>& nulls) {
    for (std::size_t q = 0; q < questions_.size(); ++q) {
      const bool there = enough && set.answer(q, position, *results_.at(q, place));
      results_.valid(q)[place] = there;
      if (!there) {
        results_.blank(q, place);
        nulls[q] = true;
      }
    }
  }
  std::vector<rolling::Question> questions_;
  bool integers_;
  const Word* words_;
  const std::uint8_t* valid_;
  std::vector<nb::object> kept_;
  NativeResults results_;
};

// ---- distinct values and the mode: codes of values, -1 for null ----------------------------------
class CountRoll final : public AnyRoll {
 public:
  CountRoll(RollTask task, CodeArray codes, std::size_t distinct, bool mode)
      : AnyRoll(std::move(task)),
        codes_(codes.data()),
        distinct_(distinct),
        mode_(mode),
        kept_(nb::cast(std::move(codes))),
        results_(task_.outputs(), {1}) {}
  void run(std::size_t from, std::size_t to) override {
    nb::gil_scoped_release release;
    Set set(*this);
    bool nulls = false;
    if (task_.arrival) {
      std::vector<char> in;
      std::size_t first = 0;
      in_arrival_order(
          from, to,
          [&](std::size_t begin, std::size_t end) {
            for (std::size_t i = 0; i < in.size(); ++i)
              if (in[i] != 0) set.remove(first + i);
            first = begin;
            in.assign(end - begin, 0);
          },
          [&](std::size_t p) { set.add(p), in[p - first] = 1; },
          [&](std::size_t p) { set.remove(p), in[p - first] = 0; },
          [&](std::size_t p, std::size_t size) {
            nulls |= put(set, task_.layout->row(p), size >= task_.least);
          });
    } else {
      rolling::roll_event_set(
          set, *task_.frames, from, to, task_.least,
          [&](std::size_t i, bool enough) { nulls |= put(set, task_.place(i), enough); });
    }
    const std::lock_guard<std::mutex> lock(merging_);
    if (nulls) results_.set_nulls(0, true);
  }
  nb::object take() override { return results_.take(); }

 private:
  struct Set {
    explicit Set(const CountRoll& r) : roll(r), counts(r.distinct_, r.mode_) {}
    std::size_t block(std::size_t) const { return roll.task_.frames->rows(); }
    void prepare(std::size_t, std::size_t) {}
    void add(std::size_t p) {
      if (const std::int32_t c = code(p); c >= 0) counts.add(static_cast<std::size_t>(c));
    }
    void remove(std::size_t p) {
      if (const std::int32_t c = code(p); c >= 0) counts.remove(static_cast<std::size_t>(c));
    }
    std::int32_t code(std::size_t p) const { return roll.codes_[roll.task_.layout->row(p)]; }
    const CountRoll& roll;
    rolling::ValueCounts counts;
  };
  bool put(const Set& set, std::size_t place, bool enough) {
    const bool there = enough && (!mode_ || set.counts.distinct() != 0);
    const std::size_t value = mode_ ? set.counts.mode() : set.counts.distinct();
    *results_.at(0, place) = there ? value : 0;
    results_.valid(0)[place] = there;
    return !there;
  }
  const std::int32_t* codes_;
  std::size_t distinct_;
  bool mode_;
  nb::object kept_;
  NativeResults results_;
};

void require_rows(const RollTask& task, std::size_t n) {
  if (n != task.layout->rows)
    raise(PyExc_ValueError, "expected a column of " + std::to_string(task.layout->rows) +
                                " rows, got " + std::to_string(n));
}
// Native columns are pairs of words and mask; Python's a list of values.
void require_rows(const RollTask& task, nb::handle columns) {
  for (nb::handle column : nb::cast<nb::sequence>(columns)) {
    if (!nb::isinstance<nb::tuple>(column)) return;
    const auto pair = nb::cast<nb::tuple>(column);
    if (pair.size() != 2 || !nb::hasattr(pair[0], "__array__")) return;
    require_rows(task, nb::len(nb::handle(pair[0])));
  }
}

}  // namespace

void bind_rolling(nb::module_& m) {
  nb::class_<Layout>(m, "Layout")
      .def(nb::new_(&make_layout), nb::arg("rows"), nb::arg("keys").none(), nb::arg("groups"),
           nb::arg("times").none(), nb::arg("arrival"))
      .def_prop_ro("in_order", [](const Layout& l) { return l.order.rows == nullptr; })
      .def_prop_ro("order",
                   [](const Layout& l) {
                     const auto* rows = l.order.rows.get();
                     if (rows == nullptr) return nb::object(nb::none());
                     return array_of(std::vector<std::uint32_t>(rows, rows + l.rows));
                   })
      // The rows of each key as they arrived, key by key; none: in the order they stand.
      .def_prop_ro("arrival_order",
                   [](const Layout& l) {
                     const auto* rows = l.arrival.rows.get();
                     if (rows == nullptr) return nb::object(nb::none());
                     return array_of(std::vector<std::uint32_t>(rows, rows + l.rows));
                   })
      .def_prop_ro("starts",
                   [](const Layout& l) {
                     return array_of(
                         std::vector<std::int64_t>(l.order.starts.begin(), l.order.starts.end()));
                   })
      // The windows that advance by a step: the segment, end and frame of each.
      .def("steps", [](const Layout& l, std::int64_t size, std::int64_t every, std::int64_t offset,
                       bool left, bool right) {
        if (l.rows != 0 && l.times == nullptr) raise(PyExc_ValueError, "rows without times");
        const rolling::StepFrames frames(l.times, l.order.starts, size, every, offset, left, right);
        rolling::Steps s;
        std::size_t most = std::max<std::size_t>(100'000'000, 100 * l.rows);
        {
          nb::gil_scoped_release release;
          const auto n = frames.count();
          if (n <= most) s = frames.make();
          else most = 0;
        }
        if (most == 0)
          raise(PyExc_ValueError,
                "every= is so much shorter than window= that there would be over 100 million "
                "windows; choose a longer step");
        return nb::make_tuple(array_of(std::move(s.segments)), array_of(std::move(s.ends)),
                              array_of(std::move(s.lo)), array_of(std::move(s.hi)));
      });

  nb::class_<FramesOf>(m, "Frames")
      .def_static("by_time",
                  [](std::shared_ptr<Layout> l, std::int64_t before, std::int64_t after, bool left,
                     bool right) {
                    return FramesOf{
                        std::make_shared<rolling::TimeFrames>(
                            l->times, l->order.starts, rolling::Reach{before, after, left, right}),
                        l,
                        {}};
                  })
      .def_static("by_count",
                  [](std::shared_ptr<Layout> l, std::int64_t before, std::int64_t after, bool left,
                     bool right) {
                    return FramesOf{
                        std::make_shared<rolling::CountFrames>(
                            l->order.starts, rolling::Reach{before, after, left, right}),
                        l,
                        {}};
                  })
      .def_static("given",
                  [](std::shared_ptr<Layout> l, TimeArray lo, TimeArray hi) {
                    const std::size_t n = lo.shape(0);
                    if (hi.shape(0) != n) raise(PyExc_ValueError, "a frame has two ends");
                    for (std::size_t i = 0; i < n; ++i)
                      if (lo.data()[i] < 0 || lo.data()[i] > hi.data()[i] ||
                          static_cast<std::size_t>(hi.data()[i]) > l->rows)
                        raise(PyExc_ValueError, "a frame is outside the rows");
                    auto frames = std::make_shared<rolling::GivenFrames>(lo.data(), hi.data(), n,
                                                                         l->order.starts);
                    return FramesOf{frames, l, {nb::cast(std::move(lo)), nb::cast(std::move(hi))}};
                  })
      .def("__len__", [](const FramesOf& f) { return f.frames->outputs(); })
      .def("at",
           [](const FramesOf& f, std::size_t i) {
             if (i >= f.frames->outputs()) raise(PyExc_IndexError, "no such frame");
             const rolling::Frame frame = f.frames->one(i);
             return nb::make_tuple(frame.lo, frame.hi);
           })
      .def("ends", [](const FramesOf& f) {
        std::vector<std::int64_t> lo, hi;
        {
          nb::gil_scoped_release release;
          lo.resize(f.frames->outputs());
          hi.resize(lo.size());
          f.frames->each_chunk(0, lo.size(),
                               [&](std::size_t first, std::size_t n, const rolling::Frame* frame) {
                                 for (std::size_t i = 0; i < n; ++i) {
                                   lo[first + i] = static_cast<std::int64_t>(frame[i].lo);
                                   hi[first + i] = static_cast<std::int64_t>(frame[i].hi);
                                 }
                               });
        }
        return nb::make_tuple(array_of(std::move(lo)), array_of(std::move(hi)));
      });

  nb::class_<RollTask>(m, "RollTask")
      .def(nb::new_([](const std::shared_ptr<Layout>& layout,
                       const std::shared_ptr<FramesOf>& frames, std::size_t least, bool arrival,
                       std::size_t newest, bool per_row) {
             if (frames->layout != layout)
               raise(PyExc_ValueError, "these frames are of another layout");
             // The task shares the whole of `frames`, and so the arrays that they point into.
             const FramesPtr shared(frames, frames->frames.get());
             return std::make_unique<RollTask>(
                 RollTask{layout, shared, least, arrival, newest, per_row});
           }),
           nb::arg("layout"), nb::arg("frames"), nb::arg("least"), nb::arg("arrival"),
           nb::arg("newest"), nb::arg("per_row"));

  nb::class_<AnyRoll>(m, "Roll")
      .def_static("monoid",
                  [](const RollTask& task, nb::dict spec, nb::handle columns) {
                    auto parsed = std::make_shared<const Spec>(parse_spec(spec));
                    require_rows(task, columns);
                    return task.arrival ? roll_arrival(parsed, columns, task)
                                        : roll_event(parsed, columns, task);
                  })
      .def_static("places",
                  [](const RollTask& task, nb::handle columns, bool largest, bool integers) {
                    require_rows(task, columns);
                    return roll_places(columns, largest, integers, task);
                  })
      .def_static(
          "ranks",
          [](const RollTask& task, nb::list questions, bool integers, WordColumn words,
             std::optional<ByteColumn> valid) -> std::unique_ptr<AnyRoll> {
            require_rows(task, words.shape(0));
            if (valid) require_rows(task, valid->shape(0));
            std::vector<rolling::Question> asked;
            for (nb::handle q : questions) {
              const auto t = nb::cast<nb::tuple>(q);
              rolling::Question one;
              one.rank = nb::cast<bool>(t[0]);
              one.q = nb::cast<double>(t[1]);
              const int how = nb::cast<int>(t[2]);
              if (one.rank) one.ties = static_cast<rolling::Ties>(how);
              else one.between = static_cast<rolling::Between>(how);
              asked.push_back(one);
            }
            return std::make_unique<RankRoll>(task, std::move(asked), integers, std::move(words),
                                              std::move(valid));
          },
          nb::arg(), nb::arg(), nb::arg(), nb::arg(), nb::arg().none())
      .def_static("counts",
                  [](const RollTask& task, CodeArray codes, std::size_t distinct,
                     bool mode) -> std::unique_ptr<AnyRoll> {
                    require_rows(task, codes.shape(0));
                    for (std::size_t i = 0; i < codes.shape(0); ++i)
                      if (codes.data()[i] >= static_cast<std::int64_t>(distinct))
                        raise(PyExc_ValueError, "a code is out of range");
                    return std::make_unique<CountRoll>(task, std::move(codes), distinct, mode);
                  })
      .def_prop_ro("units", [](const AnyRoll& r) { return r.units(); })
      .def("run",
           [](AnyRoll& r, std::size_t from, std::size_t to) {
             if (from > to || to > r.units()) raise(PyExc_IndexError, "no such part of the work");
             r.run(from, to);
           })
      .def("take", [](AnyRoll& r) { return r.take(); });
}

}  // namespace sash_py
