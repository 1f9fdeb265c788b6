// Coarse<Fifo, M>: an in-order structure over blocks of entries, for states much bigger than entries.
//
// A Bloom filter's state is 2 KB and its entry 16 bytes. A structure that keeps one state per entry
// is then bound by memory: it moves several states through the caches for every row. Here only raw
// entries are kept one by one; every kBlock of them become one state of an inner structure.
//
//   oldest                                                            youngest
//   [ front: < = kBlock entries ][ inner: one state for each kBlock ][ tail: < kBlock entries ]
//     fronts[i]: the last i + 1                                        tail: their aggregate
//                                [              rest: the aggregate of both               ]
//
// A query combines the front's suffix with `rest`. Worst-case costs are those of the inner
// structure, plus kBlock prepends for an evict that opens the next block.
//
// Invariants, f entries in the front and t in the tail:
//   1. the window has f + kBlock * inner.size() + t entries, f <= kBlock, t < kBlock;
//   2. fronts[i], i < f, is the aggregate of the front's last i + 1 entries;
//   3. tail is the aggregate of the last t entries;   4. rest = inner (x) tail.
#pragma once

#include <array>

#include "sash/fifo.hpp"

namespace sash {

// The states of M as the entries of another monoid.
template <Monoid M>
class StatesOf {
 public:
  using Cell = typename M::Cell;
  using In = const Cell*;
  static constexpr bool nothrow = M::nothrow, trivial = M::trivial;
  static constexpr std::size_t fixed_cells = M::fixed_cells;

  explicit StatesOf(M m) : m_(std::move(m)) {}
  const M& inner() const { return m_; }
  std::size_t state_cells() const { return m_.state_cells(); }
  std::size_t entry_cells() const { return m_.state_cells(); }
  bool commutative() const { return m_.commutative(); }
  bool exact() const { return m_.exact(); }
  void start(Cell* c, std::size_t cells) const { m_.start(c, cells); }
  void drop_entry(Cell* e) const { m_.drop_state(e); }
  void drop_state(Cell* s) const { m_.drop_state(s); }
  void lift(Cell* e, const In& state) const { m_.copy_state(e, state); }
  void set_identity(Cell* s) const { m_.set_identity(s); }
  void copy_state(Cell* d, const Cell* s) const { m_.copy_state(d, s); }
  void copy_entry(Cell* d, const Cell* e) const { m_.copy_state(d, e); }
  void to_state(Cell* d, const Cell* e) const { m_.copy_state(d, e); }
  void append(Cell* s, const Cell* e) const { m_.combine(s, s, e); }
  void prepend(Cell* d, const Cell* e, const Cell* s) const { m_.combine(d, e, s); }
  void combine(Cell* d, const Cell* a, const Cell* b) const { m_.combine(d, a, b); }
  void merge_entry(Cell* e, const Cell* later) const { m_.combine(e, e, later); }
  bool same_state(const Cell* a, const Cell* b) const { return m_.same_state(a, b); }

 private:
  M m_;
};

template <template <class> class Fifo, Monoid M>
class Coarse : public FifoBase<M, 1, true> {
  static_assert(M::nothrow);
  using Base = FifoBase<M, 1, true>;
  using Base::m_, Base::queue_, Base::at;
  using typename Base::Position;

 public:
  using Cell = typename M::Cell;
  static constexpr bool keeps_values = false;
  static constexpr std::size_t kBlock = 16;

  // Whether states are so much bigger than entries that blocks pay.
  static bool pays(const M& m) { return m.state_cells() >= 8 * m.entry_cells(); }

  explicit Coarse(M m)
      : Base(std::move(m)), inner_(StatesOf<M>(m_)), fronts_(m_), tail_(m_), rest_(m_) {
    for (std::size_t i = 0; i < kBlock; ++i) fronts_.add();
  }
  ~Coarse() { this->drop_all(all_entries); }

  void insert(const typename M::In& in) {
    Cell* entry = this->lift_at_end(in);
    if (tail_size_ + 1 == kBlock) {  // `inner` may run out of memory: it goes first
      Held<M> block(m_);
      m_.copy_state(block.get(), tail_.get());
      m_.append(block.get(), entry);
      inner_.insert(block.get());
      m_.set_identity(tail_.get());
      tail_size_ = 0;
    } else {
      m_.append(tail_.get(), entry);
      ++tail_size_;
    }
    m_.append(rest_.get(), entry);
    queue_.push_back();
  }

  void evict() {
    if (front_ == 0) open_front();
    this->pop_front(Holds::entry);
    --front_;
  }

  void query(Cell* out) const {
    if (front_ == 0) m_.copy_state(out, rest_.get());
    else m_.combine(out, fronts_[front_ - 1], rest_.get());
  }

  void clear() {
    this->drop_all(all_entries);
    inner_.clear();
    m_.set_identity(tail_.get());
    m_.set_identity(rest_.get());
    front_ = tail_size_ = 0;
  }

  std::size_t partials() const { return inner_.partials() + front_ + 2; }
  std::size_t bytes() const {
    return Base::bytes() + inner_.bytes() + (kBlock + 2) * m_.state_cells() * sizeof(Cell);
  }

  void check_invariants() const {
    queue_.check_invariants();
    inner_.check_invariants();
    Base::require(counts_hold(queue_.size()), "Coarse invariant 1: the counts do not add up");
    Held<M> front(m_), tail(m_), rest(m_);
    const std::size_t tail_from = queue_.size() - tail_size_;
    this->walk([&](std::size_t i, Position p) {
      if (i < front_) m_.append(front.get(), at(p));
      if (i >= tail_from) m_.append(tail.get(), at(p));
    });
    read_rest(rest.get());
    Base::require(front_ == 0 || m_.same_state(front.get(), fronts_[front_ - 1]),
                  "Coarse invariant 2: the front is stale");
    Base::require(m_.same_state(tail.get(), tail_.get()), "Coarse invariant 3: tail is stale");
    Base::require(m_.same_state(rest.get(), rest_.get()), "Coarse invariant 4: rest is stale");
  }

  template <class Archive>
  void archive(Archive& a) {
    std::size_t n = queue_.size(), block = kBlock;
    a.count(n, m_);
    a.number(block), a.number(front_), a.number(tail_size_);
    this->archive_slots(a, n, all_entries);
    inner_.archive(a);
    a.require(block == kBlock && counts_hold(n), "the blocks do not add up");
    if constexpr (Archive::loading) {
      if (front_ != 0) fold_front(front_);
      this->walk([&](std::size_t i, Position p) {
        if (i >= n - tail_size_) m_.append(tail_.get(), at(p));
      });
      read_rest(rest_.get());
    }
  }

 private:
  bool counts_hold(std::size_t n) const {
    return front_ <= kBlock && tail_size_ < kBlock &&
           n == front_ + kBlock * inner_.size() + tail_size_;
  }
  // The oldest block leaves the inner structure, or, when that is empty, the tail becomes the front.
  void open_front() {
    if (inner_.size() != 0) {
      inner_.evict();
      fold_front(kBlock);
      return read_rest(rest_.get());
    }
    fold_front(tail_size_);
    tail_size_ = 0;
    m_.set_identity(tail_.get());
    m_.set_identity(rest_.get());
  }
  void fold_front(std::size_t n) {
    std::array<Cell*, kBlock> entries;
    Position p = queue_.front();
    for (std::size_t i = 0; i < n; ++i, queue_.step(p)) entries[i] = at(p);
    m_.to_state(fronts_[0], entries[n - 1]);
    for (std::size_t i = 1; i < n; ++i) m_.prepend(fronts_[i], entries[n - 1 - i], fronts_[i - 1]);
    front_ = n;
  }
  void read_rest(Cell* out) const {
    inner_.query(out);
    m_.combine(out, out, tail_.get());
  }

  Fifo<StatesOf<M>> inner_;
  States<M> fronts_;
  Held<M> tail_, rest_;
  std::size_t front_ = 0, tail_size_ = 0;
};

}  // namespace sash
