// replay: rows as they arrived, in a window by time.
#pragma once

#include "measure.hpp"
#include "sash/timed.hpp"

namespace bench {

// A window with times: a tree, or an in-order structure with the times beside it.
template <class W>
class ByTime {
  using K = typename W::Kind;
  using Window =
      std::conditional_t<W::any_order, typename W::Structure, sash::Timed<typename W::Structure>>;

 public:
  explicit ByTime(const Args& args) : window_(made(args)) {}
  const auto& monoid() const {
    if constexpr (W::any_order) return window_->monoid();
    else return window_->window().monoid();
  }
  void query(typename W::Cell* out) {
    if constexpr (W::any_order) window_->query(out);
    else window_->window().query(out);
  }
  std::size_t bytes() const { return window_->bytes(); }
  void insert(Time t, const typename K::In& in) { window_->insert(t, in); }
  void evict_until(Time t, bool bulk) {
    if (bulk) window_->bulk_evict(t);
    else
      while (window_->size() != 0 && window_->oldest() <= t) window_->evict();
  }

 private:
  static std::unique_ptr<Window> made(const Args& args) {
    if constexpr (W::any_order) {
      return std::make_unique<Window>(K::monoid(), W::shape(args));
    } else {
      refuse_tree_arguments(args);
      return std::make_unique<Window>(K::monoid());
    }
  }
  std::unique_ptr<Window> window_;
};

// All rows, from an empty window on, several times.
template <class W>
void replay(const Args& args, Report& report) {
  using K = typename W::Kind;
  const Rows rows = read_rows(args.text("file"));
  const auto span = static_cast<Time>(args.at_least("span", 1));
  const bool bulk = args.one_of("evict", {"bulk", "single"}) == "bulk";
  if (!W::any_order && !std::is_sorted(rows.times.begin(), rows.times.end()))
    throw Usage("file=" + args.text("file") +
                " is not in order of time: this structure needs that, finger_tree does not");
  Feed<K> feed(rows.values);
  report.timed = args.flag("latency");
  report.rounds = rows.times.size();
  least_of(args, report, [&](std::size_t time) {
    ByTime<W> window(args);
    sash::Held<typename W::M> out(window.monoid());
    Checksum sum;
    Time youngest = rows.times[0];
    feed.go_to(0);
    const auto row = [&](std::size_t i) {
      window.insert(rows.times[i], feed.next());
      youngest = std::max(youngest, rows.times[i]);
      window.evict_until(youngest - span, bulk);
      window.query(out.get());
      K::observe(out.get(), sum, i);
    };
    measure<false>(args, report, rows.times.size(), 1, row);
    K::observe_all(out.get(), sum);
    sum.is_whole = K::whole;
    if (time != 0 && sum != report.checksum)
      throw std::logic_error("replay: the same rows gave different answers");
    report.checksum = sum;
    report.bytes = window.bytes();
  });
}

}  // namespace bench
