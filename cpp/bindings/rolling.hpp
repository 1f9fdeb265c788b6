// Rolling kernels as Python sees them.
//
// A Layout is the rows of a table in order of key and time; Frames say which of them each result's
// window holds; an AnyRoll computes one aggregate over one set of frames. run(from, to) does a part
// of the work, and parts that do not overlap may run in several threads at once.
#pragma once

#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/unique_ptr.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <mutex>

#include "port.hpp"
#include "sash/rolling/frames.hpp"
#include "sash/rolling/roll.hpp"
#include "sash/rolling/sort_rows.hpp"

namespace sash_py {

using TimeArray = nb::ndarray<const std::int64_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using CodeArray = nb::ndarray<const std::int32_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

// Rows in order of key, time and arrival.
struct Layout {
  std::size_t rows = 0;
  sash::rolling::RowOrder order;        // position -> row
  const std::int64_t* times = nullptr;  // by position: the given ones, or these sorted
  std::vector<std::int64_t> sorted;
  nb::object given;
  sash::rolling::RowOrder arrival;       // the rows of each key as they arrived
  std::vector<std::uint32_t> positions;  // row -> position; only for arrival order

  std::size_t row(std::size_t position) const {
    return order.rows ? order.rows[position] : position;
  }
};

// What all kernels are given: the rows, the frames, and how results are placed.
struct RollTask {
  std::shared_ptr<const Layout> layout;
  std::shared_ptr<const sash::rolling::Frames> frames;
  std::size_t least = 0;  // fewer rows in a window give null
  bool arrival = false;
  std::size_t newest = 0;  // in arrival order by count: how many rows a window keeps; else 0
  bool per_row = true;     // result i is that of the row at position i, else simply the i-th

  std::size_t outputs() const { return frames->outputs(); }
  // Where a result goes.
  std::size_t place(std::size_t output) const { return per_row ? layout->row(output) : output; }
  // What run() counts: results, or in arrival order keys.
  std::size_t units() const {
    return arrival ? layout->order.starts.size() - 1 : frames->outputs();
  }
};

class AnyRoll {
 public:
  explicit AnyRoll(RollTask task) : task_(std::move(task)) {}
  virtual ~AnyRoll() = default;
  virtual void run(std::size_t from, std::size_t to) = 0;
  virtual nb::object take() = 0;
  std::size_t units() const { return task_.units(); }

 protected:
  // Calls each(position, size) for the rows of keys [from, to) as they arrive, add and
  // remove for those that enter and leave the window, begin(first, last) at each key. Polls.
  template <class Begin, class Add, class Remove, class Each>
  void in_arrival_order(std::size_t from, std::size_t to, Begin&& begin, Add&& add_row,
                        Remove&& remove_row, Each&& each) const {
    const Layout& l = *task_.layout;
    sash::Poll poll;
    const auto add = [&](std::size_t p) { poll(), add_row(p); };
    const auto remove = [&](std::size_t p) { poll(), remove_row(p); };
    for (std::size_t key = from; key < to; ++key) {
      const std::size_t first = l.order.starts[key], last = l.order.starts[key + 1];
      begin(first, last);
      sash::rolling::Arrivals arrivals(*task_.frames, first, last);
      std::vector<std::size_t> oldest;  // by count: a heap of the positions in the window
      for (std::size_t i = first; i < last; ++i) {
        const std::size_t row = l.arrival.rows ? l.arrival.rows[i] : i;
        const std::size_t p = l.positions.empty() ? row : l.positions[row];
        std::size_t size;
        if (task_.newest == 0) {
          arrivals.arrive(p, add, remove);
          size = arrivals.size();
        } else {
          add(p);
          oldest.push_back(p);
          std::push_heap(oldest.begin(), oldest.end(), std::greater<>());
          if (oldest.size() > task_.newest) {
            std::pop_heap(oldest.begin(), oldest.end(), std::greater<>());
            remove(oldest.back());
            oldest.pop_back();
          }
          size = oldest.size();
        }
        each(p, size);
      }
    }
  }
  RollTask task_;
  std::mutex merging_;
};

std::unique_ptr<AnyRoll> roll_event(std::shared_ptr<const Spec> spec, nb::handle columns,
                                    RollTask task);
// Where the largest (smallest) value of each window is, in event order.
std::unique_ptr<AnyRoll> roll_places(nb::handle columns, bool largest, bool integers,
                                     RollTask task);
std::unique_ptr<AnyRoll> roll_arrival(std::shared_ptr<const Spec> spec, nb::handle columns,
                                      RollTask task);

// One monoid over one set of frames. Both orders read and write the same way.
template <class M>
class MonoidRoll : public AnyRoll {
 public:
  MonoidRoll(std::shared_ptr<const Spec> spec, const M& m, nb::handle columns, RollTask task)
      : AnyRoll(std::move(task)),
        spec_(std::move(spec)),
        m_(m),
        column_(*spec_, columns),
        results_(*spec_, task_.outputs()) {}
  nb::object take() override { return results_.take(); }

 protected:
  template <class Writer>
  void merge(const Writer& out) {
    const std::lock_guard<std::mutex> lock(merging_);
    results_.done(out);
  }
  template <class Writer>
  static void put(Writer& out, const M& m, std::size_t row, const typename M::Cell* state) {
    if (state == nullptr) out.put_null(row);
    else out.put(m, row, state);
  }

  std::shared_ptr<const Spec> spec_;
  M m_;
  Column<M> column_;
  Results<M> results_;
};

}  // namespace sash_py
