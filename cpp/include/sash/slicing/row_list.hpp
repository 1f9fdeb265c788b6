// RowList: the rows of one key in order of time and arrival, each with its marks and its state.
//
//   cost     append and access in turn O(1); find O(log n); one row at any place: moves within a
//            block of at most `most` rows, and a number for each block; m rows in one merge
//   space    one block for few rows; blocks of the same room, and where each begins, for more
//
// Invariants:
//   1  without a directory all rows are in one block; with one they are in its blocks, two or more,
//      of which none is empty;
//   2  begins[b] is the number of rows before block b, and the last one that of all rows.
#pragma once

#include <vector>

#include "sash/slicing/row_block.hpp"
#include "sash/slicing/scratch.hpp"

namespace sash::slicing {

template <Monoid M>
class RowList {
 public:
  using Cell = typename M::Cell;
  explicit RowList(std::size_t width) : width_(width) {}

  struct Row {
    Time& time;
    std::int64_t* marks;
    Cell* state;
  };
  // The monoid is the operator's: there is one, and many lists.
  std::size_t size() const { return directory_ ? directory_->begins.back() : only_.size(); }
  std::size_t width() const { return width_; }
  Time time(std::size_t i) const {
    const Spot s = spot(i);
    return s.block->time(s.at);
  }
  const std::int64_t* marks(std::size_t i) const {
    const Spot s = spot(i);
    return s.block->marks(width_, s.at);
  }
  Cell* state(const M& m, std::size_t i) const {
    const Spot s = spot(i);
    return s.block->state({m, width_}, s.at);
  }
  Row row(const M& m, std::size_t i) {
    const Spot s = spot(i);
    return {s.block->time(s.at), s.block->marks(width_, s.at), s.block->state({m, width_}, s.at)};
  }
  // Rows that are near each other, while none come or go: a block is found once.
  class Reader {
   public:
    Reader(const RowList& list, const M& m) : list_(list), m_(m) {}
    Row operator[](std::size_t i) {
      if (i - first_ >= n_) seek(i);
      const std::size_t at = i - first_;
      return {times_[at], marks_ + at * list_.width_, states_ + at * m_.state_cells()};
    }

   private:
    void seek(std::size_t i) {
      const Spot s = list_.spot(i);
      first_ = i - s.at;
      n_ = s.block->size();
      times_ = &s.block->time(0);
      marks_ = s.block->marks(list_.width_, 0);
      states_ = s.block->state({m_, list_.width_}, 0);
    }
    const RowList& list_;
    const M& m_;
    std::size_t first_ = 0, n_ = 0;
    Time* times_ = nullptr;
    std::int64_t* marks_ = nullptr;
    Cell* states_ = nullptr;
  };
  // The number of rows before t.
  std::size_t before(Time t) const {
    if (!directory_) return only_.before(t);
    const auto& blocks = directory_->blocks;
    const auto starts_before = [t](const Block& b) { return b.time(0) < t; };
    auto after = blocks.end();
    if (!starts_before(blocks.back()))
      after = std::partition_point(blocks.begin(), blocks.end(), starts_before);
    if (after == blocks.begin()) return 0;
    const auto b = static_cast<std::size_t>(after - blocks.begin()) - 1;
    return directory_->begins[b] + blocks[b].before(t);
  }

  // New rows at ascending places (of the list as it will be), each with the identity; their times
  // and marks are to be set. If it throws, nothing has happened.
  void open(const M& m, std::span<const std::size_t> places) {
    const Form f{m, width_};
    const std::size_t n = places.size();
    if (!directory_) {
      if (only_.has_room(n)) return only_.open(f, places, 0);
      if (only_.size() + n <= most(f)) return grow(f, places);
      return open_first(f, places);
    }
    Directory& d = *directory_;
    const std::size_t last = d.blocks.size() - 1;
    if (places[0] <= d.begins[last] || !d.blocks[last].has_room(n)) return open_many(f, places);
    d.blocks[last].open(f, places, d.begins[last]);
    d.begins.back() += n;
  }
  // Takes these rows out again. Nothing fails.
  void close(const M& m, std::span<const std::size_t> places) {
    const Form f{m, width_};
    if (!directory_) return only_.close(f, places, 0);
    Directory& d = *directory_;
    const std::size_t first = d.find(places[0]);
    for (std::size_t k = 0, j; k < places.size(); k = j) {
      const std::size_t b = d.find(places[k]);
      for (j = k + 1; j < places.size() && places[j] < d.begins[b + 1];) ++j;
      d.blocks[b].close(f, places.subspan(k, j - k), d.begins[b]);
    }
    join(f, first);
  }
  void remove_front(const M& m, std::size_t n) {
    const Form f{m, width_};
    if (directory_) remove_blocks(f, n);
    else only_.drop_front(f, n);
    if (!directory_) only_.shrink(f);
  }
  void clear(const M& m) {
    remove_front(m, size());
    only_ = {};
  }
  std::size_t bytes(const M& m) const {
    const Form f{m, width_};
    if (!directory_) return only_.room() * f.bytes();
    std::size_t rooms = 0;
    for (const Block& b : directory_->blocks) rooms += b.room();
    return rooms * f.bytes() + sizeof(Directory) + directory_->blocks.capacity() * sizeof(Block) +
           directory_->begins.capacity() * sizeof(std::size_t);
  }

 private:
  using Block = RowBlock<M>;
  using Form = RowForm<M>;
  struct Spot {
    const Block* block;
    std::size_t at;
  };
  struct Directory {
    std::vector<Block> blocks;
    std::vector<std::size_t> begins;
    mutable std::size_t near = 0;  // the block found last

    // The block that row i is in.
    std::size_t find(std::size_t i) const {
      if (i >= begins[near] && i < begins[near + 1]) return near;
      if (near + 2 < begins.size() && i >= begins[near + 1] && i < begins[near + 2]) return ++near;
      return near = static_cast<std::size_t>(std::upper_bound(begins.begin(), begins.end() - 1, i) -
                                             begins.begin() - 1);
    }
    // Blocks from this one on have changed.
    void count(std::size_t b) {
      near = 0;
      begins.resize(blocks.size() + 1);
      for (; b < blocks.size(); ++b) begins[b + 1] = begins[b] + blocks[b].size();
    }
    // Blocks move up, to where there are none: as bytes, since a row may move all that follow it.
    void move_up(std::size_t from, std::size_t n, std::size_t by) {
      if (n == 0 || by == 0) return;
      Block* at = blocks.data() + from;
      std::memmove(static_cast<void*>(at + by), static_cast<const void*>(at), n * sizeof(Block));
      for (std::size_t i = 0; i < std::min(n, by); ++i) std::construct_at(at + i);
    }
  };
  // Rows that go into one block, places[from] to before places[to]: into blocks in its place where
  // it has no room.
  struct Part {
    std::size_t block, from, to;
    std::vector<Block> fresh;
  };
  // Of one block where there are several. Few of large states, so that moves stay short.
  static std::size_t most(const Form& f) {
    return std::clamp<std::size_t>(std::bit_floor(kBytes / f.bytes()), 16, 256);
  }
  Spot spot(std::size_t i) const {
    if (!directory_) return {&only_, i};
    const std::size_t b = directory_->find(i);
    return {&directory_->blocks[b], i - directory_->begins[b]};
  }
  void grow(const Form& f, std::span<const std::size_t> places) {
    const std::size_t n = only_.size() + places.size();
    Block fresh(f, std::min(most(f), std::max<std::size_t>(2, std::bit_ceil(n))));
    deal(f, only_, places, 0, std::span(&fresh, 1), true);
    only_ = std::move(fresh);
  }
  // More rows than one block takes.
  void open_first(const Form& f, std::span<const std::size_t> places) {
    auto d = std::make_unique<Directory>();
    d->blocks.resize(1);
    d->begins = {0, only_.size()};
    d->blocks[0] = std::exchange(only_, {});
    directory_ = std::move(d);
    try {
      open_many(f, places);
    } catch (const std::bad_alloc&) {
      leave_directory();
      throw;
    }
  }

  void open_many(const Form& f, std::span<const std::size_t> places) {
    Directory& d = *directory_;
    std::vector<Part> parts = parts_of(f, places);
    const std::size_t last = d.blocks.size() - 1;
    std::size_t from = d.blocks.size(), to = from;
    for (const Part& p : parts) to += p.fresh.empty() ? 0 : p.fresh.size() - 1;
    if (to > d.blocks.capacity()) d.blocks.reserve(2 * to);
    if (to >= d.begins.capacity()) d.begins.reserve(2 * to + 1);
    d.blocks.resize(to);  // from here on nothing fails
    for (std::size_t k = parts.size(); k-- > 0;) {
      Part& p = parts[k];
      d.move_up(p.block + 1, from - p.block - 1, to - from);
      to -= from - p.block;
      from = p.block;
      const auto its = places.subspan(p.from, p.to - p.from);
      const std::size_t first = d.begins[p.block] + p.from;
      if (p.fresh.empty()) {
        d.blocks[from].open(f, its, first);
        d.move_up(from, 1, to - from);
        continue;
      }
      deal(f, d.blocks[from], its, first, p.fresh, p.block == last);
      to -= p.fresh.size() - 1;
      std::move(p.fresh.begin(), p.fresh.end(), d.blocks.begin() + static_cast<std::ptrdiff_t>(to));
    }
    d.count(parts[0].block);
  }
  // A new row goes into the block of the row before it.
  std::vector<Part> parts_of(const Form& f, std::span<const std::size_t> places) const {
    const Directory& d = *directory_;
    std::vector<Part> parts;
    for (std::size_t k = 0, j; k < places.size(); k = j) {
      const std::size_t after = places[k] - k;
      const std::size_t b = d.find(after == 0 ? 0 : after - 1);
      for (j = k + 1; j < places.size() && places[j] - j <= d.begins[b + 1];) ++j;
      parts.push_back({b, k, j, {}});
      if (d.blocks[b].has_room(j - k)) continue;
      const std::size_t n = d.blocks[b].size() + j - k;
      parts.back().fresh.reserve((n - 1) / most(f) + 1);
      for (std::size_t i = 0; i < n; i += most(f)) parts.back().fresh.emplace_back(f, most(f));
    }
    return parts;
  }
  // The rows of a block and new ones, in turn into other blocks: as many into each, or, at the end
  // of the list, as many as go in.
  static void deal(const Form& f, Block& old, std::span<const std::size_t> places,
                   std::size_t first, std::span<Block> into, bool at_end) {
    const std::size_t n = old.size() + places.size();
    std::size_t at = 0, k = 0;
    for (std::size_t i = 0; i < into.size(); ++i) {
      const std::size_t to = at_end ? std::min(n, at + into[i].room()) : n * (i + 1) / into.size();
      while (at < to) {
        const std::size_t next = k < places.size() ? places[k] - first : n;
        if (at == next) {
          std::size_t end = at;
          while (end < to && k < places.size() && places[k] - first == end) ++end, ++k;
          into[i].append(f, end - at);
          at = end;
          continue;
        }
        const std::size_t run = std::min(next, to) - at;
        into[i].take(f, old, at - k, run);
        at += run;
      }
    }
    old = {};
  }

  // After rows have left blocks from `first` on: none stays empty, and small ones become one.
  void join(const Form& f, std::size_t first) {
    auto& blocks = directory_->blocks;
    std::size_t kept = first;
    for (std::size_t b = first; b < blocks.size(); ++b) {
      Block block = std::exchange(blocks[b], {});
      if (kept > 0 && blocks[kept - 1].has_room(block.size()))
        blocks[kept - 1].take(f, block, 0, block.size());
      else if (block.size() != 0) blocks[kept++] = std::move(block);
    }
    blocks.resize(kept);
    directory_->count(first == 0 ? 0 : first - 1);
    leave_directory();
  }
  void remove_blocks(const Form& f, std::size_t n) {
    Directory& d = *directory_;
    const std::size_t b = n == d.begins.back() ? d.blocks.size() : d.find(n);
    for (std::size_t i = 0; i < b; ++i) d.blocks[i].drop_front(f, d.blocks[i].size());
    if (b < d.blocks.size()) d.blocks[b].drop_front(f, n - d.begins[b]);
    d.blocks.erase(d.blocks.begin(), d.blocks.begin() + static_cast<std::ptrdiff_t>(b));
    give_back(d.blocks);
    d.count(0);
    give_back(d.begins);
    leave_directory();
  }
  // One block needs none.
  void leave_directory() {
    if (directory_->blocks.size() > 1) return;
    if (!directory_->blocks.empty()) only_ = std::move(directory_->blocks[0]);
    directory_.reset();
  }

  static constexpr std::size_t kBytes = 8192;
  std::size_t width_;  // marks of a row
  Block only_;
  std::unique_ptr<Directory> directory_;
};

}  // namespace sash::slicing
