// WindowOperator against brute force: windows, keys, orders, lateness, stores, watermarks given and
// derived, ways to tell; saved, restored and followed on the way; rows folded elsewhere and merged.
#pragma once

#include <deque>
#include <memory>

#include "tape.hpp"
#include "trial.hpp"
#include "window_oracle.hpp"

namespace sash::trials {

template <class S>
class OperatorTrial {
  using Time = slicing::Time;
  using M = Scalar<S>;
  using Operator = slicing::WindowOperator<M>;
  using Emission = slicing::Emission<M>;
  using Rows = std::vector<StreamRow<S>>;
  static constexpr std::uint32_t kKeys = 6;

 public:
  OperatorTrial(Dice& dice, std::string name) : dice_(dice), name_(std::move(name)) {
    const bool rolling = dice_.one_in(3);  // they make every moment a slice
    for (auto n = 1 + dice_.below(5); n > 0; --n) windows_.push_back(any_window(rolling));
    settings_.store = static_cast<slicing::Choice>(dice_.below(3));
    settings_.emit = static_cast<slicing::Emit>(dice_.below(3));
    const Time lateness[] = {0, dice_.between(0, 100), 1000, 1'000'000};
    settings_.lateness = lateness[dice_.below(4)];
    if (dice_.one_in(4)) settings_.delay = dice_.between(0, 50);
    op_ = fresh();
  }
  const Tally& tally() const { return tally_; }

  // A batch of rows or something else that happens to an operator.
  void random() {
    const auto kind = dice_.below(16);
    if (kind < 8) process(any_rows());
    else if (kind < 12) advance(now_ + dice_.between(-60, 20));
    else if (kind == 12) merge_rows();
    else if (kind == 13) save();
    else if (kind == 14) dice_.one_in(2) ? restore() : follow();
    else change_windows();
    now_ += dice_.between(0, 20);
    if (dice_.one_in(8)) verify();
  }
  // The end of the stream: everything is told, and nothing kept.
  void finish() {
    advance(slicing::kEnd);
    verify();
    for (std::uint32_t id = 0; id < op_->room(); ++id)
      expect(op_->key(id).empty(), "something is left of a key");
    if (!changed_windows_) parts();
  }

 private:
  void expect(bool holds, const char* what) const {
    if (!holds) fail(what, name_);
  }
  Window any_window(bool rolling) {
    const int id = next_window_++;
    const Time size = 1 + static_cast<Time>(dice_.below(40));
    const auto kind = dice_.below(rolling ? 5 : 4);
    Window w{Window::Kind::periodic, id, size, size, static_cast<Time>(dice_.below(7)),
             slicing::kNever,        {}, {}};
    if (kind == 1) w.slide = dice_.between(1, size);
    if (kind == 2) w.kind = Window::Kind::session, w.slide = 1, w.offset = 0;
    if (kind == 4) w.kind = Window::Kind::rolling, w.slide = 1, w.offset = 0;
    if (kind != 3) return w;
    w = {Window::Kind::listed, id, 0, 1, 0, slicing::kNever, {}, {}};
    Dice edges = dice_.burst();
    Time start = -330, end = start;
    for (auto n = edges.below(40); n > 0; --n) {
      start += edges.between(1, 40);
      end = std::max(end, start) + edges.between(1, 40);
      w.starts.push_back(start);
      w.ends.push_back(end);
    }
    return w;
  }
  std::unique_ptr<Operator> fresh() const {
    auto made = std::make_unique<Operator>(M{}, settings_);
    for (const Window& w : windows_) made->add_window(w);
    made->make_room(kKeys);
    return made;
  }

  Rows any_rows() {
    Rows rows;
    const bool chosen = !dice_.one_in(3);
    Dice burst = dice_.burst();
    Dice& from = chosen ? dice_ : burst;
    const auto n = chosen ? from.below(6) : from.below(from.one_in(4) ? 150 : 20);
    const Time spread = from.one_in(3) ? 500 : 60;
    for (std::uint64_t i = 0; i < n; ++i)
      rows.push_back({static_cast<std::uint32_t>(from.below(kKeys - 1)),
                      now_ + from.between(-30, spread - 30),
                      static_cast<typename S::In>(values_.below(100))});
    return rows;
  }
  struct Columns {
    explicit Columns(const Rows& rows) : all(rows) {
      for (const auto& row : rows) ids.push_back(row.key), times.push_back(row.time);
    }
    Nullable<typename S::In> at(std::size_t i) const { return {all[i].value, true}; }
    const Rows& all;
    std::vector<std::uint32_t> ids;
    std::vector<Time> times;
  };

  // ---- what happens -------------------------------------------------------------------------
  void process(const Rows& rows) {
    const Columns columns(rows);
    std::vector<std::uint32_t> late;
    for (std::uint32_t i = 0; i < rows.size(); ++i) {
      if (rows[i].time < limit()) {
        late.push_back(i);
        continue;
      }
      accepted_.push_back(rows[i]);
      latest_ = std::max(latest_, rows[i].time);
    }
    op_->process(columns.ids.data(), columns.times.data(), rows.size(), columns, {},
                 slicing::kForever, [&](const Emission& e, const auto& refused) {
                   expect(refused == late, "other rows are late");
                   read(e);
                 });
    if (settings_.delay != slicing::kNever && latest_ != slicing::kNever)
      watermark_ = std::max(watermark_, latest_ - settings_.delay);
    done(rows.size());
  }
  void advance(Time to) {
    op_->advance(to, [&](const Emission& e) { read(e); });
    watermark_ = std::max(watermark_, to);
    done(1);
  }
  Time limit() const {
    const Time given = watermark_ - settings_.lateness;
    if (settings_.delay == slicing::kNever || latest_ == slicing::kNever) return given;
    return std::max(given, latest_ - settings_.delay - settings_.lateness);
  }
  // The rows are folded in another operator, and only their slices come here.
  void merge_rows() {
    if (watermark_ != slicing::kEarliest || settings_.delay != slicing::kNever) return;
    merged_ = true;
    const Rows rows = any_rows();
    const auto aside = fresh();
    fold(*aside, rows);
    std::vector<Piece> pieces = pieces_of(*aside);
    accepted_.insert(accepted_.end(), rows.begin(), rows.end());
    take(*op_, pieces);
    for (const auto& row : rows) latest_ = std::max(latest_, row.time);
    done(rows.size());
  }
  void change_windows() {
    changed_windows_ = true;
    if (windows_.size() > 1 && dice_.one_in(2)) {
      const std::size_t at = dice_.below(windows_.size());
      const int id = windows_[at].id;
      op_->remove_window(id);
      windows_.erase(windows_.begin() + static_cast<std::ptrdiff_t>(at));
      std::erase_if(standing_, [&](const auto& one) { return std::get<1>(one.first) == id; });
    } else if (windows_.size() < 6 && !merged_) {
      windows_.push_back(any_window(true));
      windows_.back().since = op_->add_window(windows_.back());
    }
    done(1);
  }

  // ---- snapshots ----------------------------------------------------------------------------
  struct Saved {
    Tape<M> tape{M{}};
    slicing::KeyNumbers keys;
    std::vector<std::uint32_t> forgotten;
  };
  void save() {
    const bool all = saved_.empty() || !op_->journalled() || dice_.one_in(3);
    if (all) {
      saved_.clear();
      standby_.reset();
    }
    Saved& saved = saved_.emplace_back();
    Recorder<M> recorder(saved.tape);
    for (const std::uint32_t id : op_->save(recorder, all)) saved.keys[id] = id;
    op_->saved();
    saved.forgotten = std::exchange(forgotten_, {});
  }
  static void load(Operator& op, const Saved& saved) {
    for (const std::uint32_t id : saved.forgotten) op.drop(id);
    Player<M> player(saved.tape);
    op.load(player, saved.keys);
    if (!player.done()) fail("a snapshot is not read to its end", "load");
  }
  // Goes on as another operator, made of what was saved.
  void restore() {
    save();
    auto other = fresh();
    for (const Saved& saved : saved_) load(*other, saved);
    other->settle();
    change_to(std::move(other));
  }
  // Goes on as the one that was there before, with what has changed since.
  void follow() {
    save();
    if (standby_ == nullptr) return restore();
    for (; known_ < saved_.size(); ++known_) load(*standby_, saved_[known_]);
    standby_->follow();
    change_to(std::move(standby_));
  }
  void change_to(std::unique_ptr<Operator> other) {
    standby_ = std::exchange(op_, std::move(other));
    known_ = saved_.size();
    op_->make_room(kKeys);
    done(1);
  }

  // ---- slices that travel -------------------------------------------------------------------
  struct Piece {
    std::uint32_t id;
    Time first, last;
    typename M::Cell state;
  };
  static void fold(Operator& op, const Rows& rows) {
    const Columns columns(rows);
    op.process(columns.ids.data(), columns.times.data(), rows.size(), columns, {},
               slicing::kForever, [](const Emission&, const auto&) {});
  }
  static std::vector<Piece> pieces_of(const Operator& op) {
    std::vector<Piece> pieces;
    op.each_slice([&](std::uint32_t id, Time first, Time last, const typename M::Cell* state) {
      pieces.push_back({id, first, last, *state});
    });
    return pieces;
  }
  void take(Operator& op, std::vector<Piece>& pieces) {
    std::stable_sort(pieces.begin(), pieces.end(), [](const Piece& a, const Piece& b) {
      return std::tuple(a.id, a.first) < std::tuple(b.id, b.first);
    });
    std::vector<std::uint32_t> ids;
    std::vector<Time> firsts, lasts;
    for (const Piece& p : pieces)
      ids.push_back(p.id), firsts.push_back(p.first), lasts.push_back(p.last);
    op.merge(
        ids.data(), firsts.data(), lasts.data(), ids.size(),
        [&](std::size_t i, typename M::Cell* to) { *to = pieces[i].state; },
        [&](const Emission& e) { read(e); });
  }
  // All rows once more, in two operators; their slices are put together in a third.
  void parts() {
    settings_ = {.store = settings_.store};
    std::vector<Piece> pieces;
    for (std::size_t part = 0; part < 2; ++part) {
      Rows rows;
      for (std::size_t i = 0; i < accepted_.size(); ++i) {
        // Where order matters, rows of one time stay together.
        const Time group = S::commutative ? static_cast<Time>(i) : accepted_[i].time;
        if (static_cast<std::size_t>(slicing::floor_to(group, 3, 0) / 3 & 1) == part)
          rows.push_back(accepted_[i]);
      }
      const auto op = fresh();
      fold(*op, rows);
      const std::vector<Piece> its = pieces_of(*op);
      pieces.insert(pieces.end(), its.begin(), its.end());
    }
    standing_.clear();
    op_ = fresh();
    take(*op_, pieces);
    advance(slicing::kEnd);
    verify();
  }

  // ---- what is told -------------------------------------------------------------------------
  void read(const Emission& e) {
    for (std::size_t i = 0; i < e.rows.size(); ++i) {
      const auto& row = e.rows[i];
      const Place place{row.key, row.said.window, row.start, row.end};
      const bool gone =
          row.change == slicing::Change::withdrawn || row.change == slicing::Change::retract;
      if (gone) expect(standing_.erase(place) == 1, "withdrawn without having been told");
      else standing_[place] = *e.outcomes.results(i);
    }
  }
  void verify() {
    ++tally_.comparisons;
    expect(op_->watermark() == watermark_, "another watermark");
    std::map<Place, Word> want;
    for (const auto& [place, window] : WindowOracle<S>::all(windows_, accepted_))
      if (window.due <= watermark_ || settings_.emit == slicing::Emit::updates)
        want[place] = window.result;
    expect(standing_ == want, "other windows than by brute force");
  }
  void done(std::size_t operations) {
    tally_.operations += operations;
    for (const std::uint32_t id : op_->take_forgotten()) forgotten_.push_back(id);
  }

  Dice& dice_;
  Dice values_{1};
  std::string name_;
  Tally tally_;
  std::vector<Window> windows_;
  slicing::Settings settings_;
  bool changed_windows_ = false;
  bool merged_ = false;  // a slice knows no last row, so no window can be registered after it
  int next_window_ = 0;
  std::unique_ptr<Operator> op_, standby_;
  Rows accepted_;
  std::map<Place, Word> standing_;
  Time now_ = -300, watermark_ = slicing::kEarliest, latest_ = slicing::kNever;
  std::deque<Saved> saved_;
  std::size_t known_ = 0;  // so many of those the standby has
  std::vector<std::uint32_t> forgotten_;
};

}  // namespace sash::trials
