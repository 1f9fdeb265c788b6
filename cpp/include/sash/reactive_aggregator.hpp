// ReactiveAggregator
//   order    in at the back, out anywhere
//   laws     associative
//   time     insert 0, evict 0 combines, O(log n) to find a handle; a query after m changes m (1 + ceil(log2(n / m))) + 2 log2 n combines
//   space    2n to 8n partial aggregates
//   paper    General Incremental Sliding-Window Aggregation, section 5
//   use      evictions that are not first in, first out; many changes between queries
//
// A circular buffer on the places of a FlatFat. An eviction in the middle leaves a hole that holds
// the identity; holes at the ends are skipped at once. A hole keeps the ticket of the entry that was
// there, marked, so that tickets rise along the buffer and are found by binary search. Changes are
// only noted; the next query brings the tree up to date for all of them together.
//
// When the buffer is full it is compacted if at most three quarters of the places are in use, else
// doubled; when a query finds less than a quarter in use, it is made smaller. Each is paid for by
// the operations since the last one.
//
// Invariants
//   1. entries stand in places [front, front + span) (modulo the capacity), oldest first;
//   2. both ends of that range are entries, not holes; size of them are entries;
//   3. a place that is no entry holds the identity;
//   4. the tickets of that range, those of holes without their mark, ascend strictly.
#pragma once

#include <algorithm>
#include <bit>
#include <stdexcept>
#include <vector>

#include "sash/flat_fat.hpp"

namespace sash {

template <Monoid M>
class ReactiveAggregator {
 public:
  using Cell = typename M::Cell;
  using Ticket = std::uint64_t;  // names an entry as long as it is in the window
  static constexpr bool keeps_values = true;
  static constexpr Holds kept = Holds::state;

  explicit ReactiveAggregator(M m) : m_(std::move(m)), fat_(m_, kLeast), tickets_(kLeast, kHole) {}
  ReactiveAggregator(const ReactiveAggregator&) = delete;
  ReactiveAggregator& operator=(const ReactiveAggregator&) = delete;

  const M& monoid() const { return m_; }
  std::size_t size() const { return size_; }
  std::size_t partials() const { return 2 * fat_.capacity(); }
  std::size_t bytes() const {
    return fat_.bytes() + tickets_.capacity() * sizeof(Ticket) + changed_.bytes();
  }
  Ticket next_ticket() const { return next_; }

  void insert(const typename M::In& in) {
    if (span_ == fat_.capacity())
      rebuild(4 * size_ <= 3 * fat_.capacity() ? fat_.capacity() : 2 * fat_.capacity());
    const std::size_t place = place_of(span_);
    changed_.reserve_one();
    Cell* leaf = fat_.leaf(place);
    m_.lift(leaf, in);
    m_.to_state(leaf, leaf);
    tickets_[place] = next_++;
    note(place);
    ++span_;
    ++size_;
  }

  void evict() { remove(0); }

  // Evicts the entry that insert gave this ticket to; false when it is no longer there.
  bool evict(Ticket ticket) {
    const std::size_t at = find(ticket);
    if (at == span_) return false;
    remove(at);
    return true;
  }

  void query(Cell* out) {
    bring_up_to_date();
    if (span_ == 0) return m_.set_identity(out);
    const std::size_t last = place_of(span_ - 1);
    if (last >= front_) return fat_.aggregate(out);
    Held<M> older(m_);  // the inverted buffer: older entries at the end of the array
    fat_.suffix(front_, older.get());
    fat_.prefix(last, out);
    m_.combine(out, older.get(), out);
  }

  void clear() {
    FlatFat<M> fresh(m_, kLeast);
    tickets_ = std::vector<Ticket>(kLeast, kHole);
    fat_ = std::move(fresh);
    changed_ = {};
    front_ = span_ = size_ = 0;
  }

  template <class F>
  void for_each(F&& f) const {
    for (std::size_t i = 0; i < span_; ++i)
      if (!is_hole(place_of(i))) f(fat_.leaf(place_of(i)));
  }

  void check_invariants() {
    std::size_t entries = 0;
    for (std::size_t i = 0; i < span_; ++i) entries += !is_hole(place_of(i));
    require(entries == size_, "ReactiveAggregator invariant 2: size differs from the entries");
    require(span_ == 0 || (!is_hole(front_) && !is_hole(place_of(span_ - 1))),
            "ReactiveAggregator invariant 2: a hole at an end");
    Held<M> identity(m_);
    for (std::size_t p = 0; p < fat_.capacity(); ++p)
      require(!is_hole(p) || m_.same_state(fat_.leaf(p), identity.get()),
              "ReactiveAggregator invariant 3: a hole holds something");
    for (std::size_t i = 1; i < span_; ++i)
      require(ticket_at(i - 1) < ticket_at(i), "ReactiveAggregator invariant 4: tickets fall");
    bring_up_to_date();
    fat_.check_invariants();
  }

  template <class Archive>
  void archive(Archive& a) {
    std::size_t n = size_;
    a.count(n, m_);
    a.number(next_);
    if constexpr (Archive::loading) {
      const Ticket end = next_;
      a.require(end < kHole, "its tickets have run out");
      std::size_t capacity = kLeast;
      while (capacity < n) capacity *= 2;
      fat_ = FlatFat<M>(m_, capacity);
      tickets_.assign(capacity, kHole);
      for (Ticket before = 0; size_ < n; ++size_, ++span_) {
        Ticket ticket = 0;
        a.number(ticket);
        a.require(ticket < end && (size_ == 0 || ticket > before), "tickets are out of order");
        before = tickets_[size_] = ticket;
        a.state(m_, fat_.leaf(size_));
        note(size_);
      }
    } else {
      for (std::size_t i = 0; i < span_; ++i) {
        if (is_hole(place_of(i))) continue;
        a.number(tickets_[place_of(i)]);
        a.state(m_, fat_.leaf(place_of(i)));
      }
    }
  }

 private:
  static constexpr std::size_t kLeast = 8;
  static constexpr Ticket kHole = Ticket{1} << 63;  // the mark
  static void require(bool holds, const char* what) {
    if (!holds) throw std::logic_error(what);
  }

  std::size_t place_of(std::size_t i) const { return (front_ + i) & (fat_.capacity() - 1); }

  bool is_hole(std::size_t place) const { return (tickets_[place] & kHole) != 0; }
  Ticket ticket_at(std::size_t i) const { return tickets_[place_of(i)] & ~kHole; }

  void note(std::size_t place) {
    changed_.add(place);
    if (changed_.runs() > fat_.capacity()) changed_.tidied();  // half as many at most
  }
  void bring_up_to_date() {
    if (fat_.capacity() > kLeast && 4 * size_ < fat_.capacity()) shrink();
    fat_.refresh(changed_);
  }

  // Where the entry of a ticket is; span_: it is not there.
  std::size_t find(Ticket ticket) const {
    std::size_t low = 0, high = span_;
    while (low < high) {
      const std::size_t middle = low + (high - low) / 2;
      if (ticket_at(middle) < ticket) low = middle + 1;
      else high = middle;
    }
    return low < span_ && tickets_[place_of(low)] == ticket ? low : span_;
  }

  void remove(std::size_t i) {
    changed_.reserve_one();
    const std::size_t place = place_of(i);
    m_.set_identity(fat_.leaf(place));
    tickets_[place] |= kHole;
    note(place);
    --size_;
    for (; span_ != 0 && is_hole(front_); --span_) front_ = place_of(1);
    while (span_ != 0 && is_hole(place_of(span_ - 1))) --span_;
  }
  void shrink() {
    try {
      rebuild(std::max(kLeast, std::bit_ceil(2 * size_)));
    } catch (...) {  // a smaller buffer is only a saving
    }
  }

  // Copies the entries, without the holes, to a new FlatFat whose nodes the next query computes.
  void rebuild(std::size_t capacity) {
    FlatFat<M> fresh(m_, capacity);
    std::vector<Ticket> tickets(capacity, kHole);
    std::size_t to = 0;
    for (std::size_t i = 0; i < span_; ++i) {
      if (is_hole(place_of(i))) continue;
      m_.copy_state(fresh.leaf(to), fat_.leaf(place_of(i)));
      tickets[to++] = tickets_[place_of(i)];
    }
    Places all;
    if (to != 0) all.add(0, to - 1);
    fat_ = std::move(fresh);
    tickets_ = std::move(tickets);
    changed_ = std::move(all);
    front_ = 0;
    span_ = size_;
  }

  M m_;
  FlatFat<M> fat_;
  std::vector<Ticket> tickets_;
  Places changed_;
  std::size_t front_ = 0, span_ = 0, size_ = 0;
  Ticket next_ = 0;
};

}  // namespace sash
