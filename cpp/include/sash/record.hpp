// Record: any list of aggregates, chosen at run time, as one native monoid.
//
// A state is the components' states one after the other. An entry is the raw row: a word of flags
// and one word for each input column, so that a window over a 2 KB Bloom filter stores 16 bytes per
// row, and folding a row in touches only the bits it sets. Only where two rows share one entry
// (equal times in a tree) the entry owns a full state instead, on the heap: it is *spilled*.
//
//   entry:   [flags][cell 0][cell 1]...     flags bit i: column i is not null
//   spilled: [kSpilled][pointer]
#pragma once

#include <algorithm>
#include <memory>
#include <stdexcept>
#include <vector>

#include "sash/component.hpp"

namespace sash {

struct Component {
  const Ops* ops;
  Params params;
  int first = -1, second = -1;  // the input columns, -1: none
  std::size_t offset = 0;       // of its state within the record's
};

// One input row: a cell for each column, and a bit for each that is not null.
struct Row {
  const Word* cells;
  Word valid;
};

class RecordLayout {
 public:
  static constexpr std::size_t kMostColumns = 62;
  RecordLayout(std::vector<Component> components, std::size_t columns)
      : components_(std::move(components)), columns_(columns) {
    if (columns_ > kMostColumns)
      throw std::invalid_argument("a record reads at most 62 input columns");
    for (Component& c : components_) {
      if (!c.ops->commutative && c.ops->precede == nullptr && c.ops->words(c.params) > kMostWords)
        throw std::logic_error("an aggregate of big states in order needs `precede`");
      c.offset = words_;
      words_ += c.ops->words(c.params);
      out_words_ += c.ops->out_words(c.params);
      commutative_ &= c.ops->commutative;
      exact_ &= c.ops->exact;
      invertible_ &= c.ops->remove != nullptr;
      overflows_ |= c.ops->overflows;
    }
  }
  const std::vector<Component>& components() const { return components_; }
  std::size_t columns() const { return columns_; }
  std::size_t words() const { return words_; }
  std::size_t out_words() const { return out_words_; }
  bool commutative() const { return commutative_; }
  bool exact() const { return exact_; }
  bool invertible() const { return invertible_; }
  bool overflows() const { return overflows_; }

 private:
  std::vector<Component> components_;
  std::size_t columns_, words_ = 0, out_words_ = 0;
  bool commutative_ = true, exact_ = true, invertible_ = true, overflows_ = false;
};

class Record {
 public:
  using Cell = Word;
  using In = Row;
  static constexpr bool nothrow = true, trivial = false;
  static constexpr std::size_t fixed_cells = 0;

  explicit Record(std::shared_ptr<const RecordLayout> layout) : layout_(std::move(layout)) {}

  const RecordLayout& layout() const { return *layout_; }
  std::size_t state_cells() const { return layout_->words(); }
  std::size_t entry_cells() const { return std::max<std::size_t>(2, 1 + layout_->columns()); }
  bool commutative() const { return layout_->commutative(); }
  bool exact() const { return layout_->exact(); }
  bool invertible() const { return layout_->invertible(); }
  bool overflows() const { return layout_->overflows(); }

  void start(Word* c, std::size_t cells) const {
    // Only the flags of an entry are ever looked at before they are written.
    const std::size_t slot = std::max(state_cells(), entry_cells());
    for (std::size_t i = 0; i < cells; i += slot) c[i] = 0;
  }
  void drop_entry(Word* e) const {
    if (e[0] & kSpilled) delete[] spilled(e);
    e[0] = 0;
  }
  void drop_state(Word*) const {}

  void lift(Word* e, const Row& row) const {
    e[0] = row.valid & ~kSpilled;
    std::copy_n(row.cells, layout_->columns(), e + 1);
  }
  void set_identity(Word* s) const {
    for (const Component& c : layout_->components()) c.ops->identity(s + c.offset, c.params);
  }
  void copy_state(Word* d, const Word* s) const {
    if (d != s) std::copy_n(s, state_cells(), d);
  }
  void copy_entry(Word* d, const Word* e) const {
    if (e[0] & kSpilled) return entry_from_state(d, spilled(e));
    drop_entry(d);
    std::copy_n(e, entry_cells(), d);
  }

  void to_state(Word* d, const Word* e) const {
    if (e[0] & kSpilled) {
      std::unique_ptr<Word[]> own(d == e ? spilled(e) : nullptr);
      std::copy_n(spilled(e), state_cells(), d);
      return;
    }
    Word buffer[kMostCells];
    const Word *row = d == e ? std::copy_n(e, entry_cells(), buffer), buffer : e;
    set_identity(d);
    fold(d, row);
  }

  void append(Word* s, const Word* e) const {
    if (e[0] & kSpilled) combine(s, s, spilled(e));
    else fold(s, e);
  }

  void prepend(Word* d, const Word* e, const Word* s) const {
    if (e[0] & kSpilled) {
      std::unique_ptr<Word[]> own(d == e ? spilled(e) : nullptr);
      return combine(d, spilled(e), s);
    }
    Word buffer[kMostCells];
    const Word *row = d == e ? std::copy_n(e, entry_cells(), buffer), buffer : e;
    if (commutative()) {
      copy_state(d, s);
      return fold(d, row);
    }
    for (const Component& c : layout_->components()) prepend_one(c, d, row, s);
  }

  void combine(Word* d, const Word* a, const Word* b) const {
    for (const Component& c : layout_->components())
      c.ops->combine(d + c.offset, a + c.offset, b + c.offset, c.params);
  }

  // Two entries become one: its state moves to the heap.
  void merge_entry(Word* e, const Word* later) const {
    if (!(e[0] & kSpilled)) {
      auto state = std::make_unique<Word[]>(std::max(state_cells(), entry_cells()));
      to_state(state.get(), e);
      own_state(e, state.release());
    }
    append(spilled(e), later);
  }
  // later := old (x) later in two steps, of which only the first may run out of memory. Afterwards
  // `old` is raw memory.
  void prepare_merge(const Word* old, Word* later) const {
    if ((old[0] | later[0]) & kSpilled) return;
    auto state = std::make_unique<Word[]>(std::max(state_cells(), entry_cells()));
    to_state(state.get(), later);
    own_state(later, state.release());
  }
  void merge_prepared(Word* old, Word* later) const {
    if (later[0] & kSpilled) {
      prepend(spilled(later), old, spilled(later));
      return drop_entry(old);
    }
    append(spilled(old), later);
    std::copy_n(old, entry_cells(), later);
  }
  // An entry that is a whole state, for partial aggregates and snapshots.
  void entry_from_state(Word* e, const Word* state) const {
    auto copy = std::make_unique<Word[]>(std::max(state_cells(), entry_cells()));
    std::copy_n(state, state_cells(), copy.get());
    drop_entry(e);
    own_state(e, copy.release());
  }

  // s := r where s = e (x) r; only for layouts that are invertible().
  void uncombine_front(Word* s, const Word* e) const {
    for (const Component& c : layout_->components())
      if (Inputs in; reads(c, e, in)) c.ops->remove(s + c.offset, in, c.params);
  }

  bool same_state(const Word* a, const Word* b) const {
    return !exact() || std::equal(a, a + state_cells(), b);
  }

  // May these words be a state? Those that were not made here are asked.
  bool sound(const Word* s) const {
    return std::all_of(layout_->components().begin(), layout_->components().end(),
                       [&](const Component& c) {
                         return c.ops->sound == nullptr || c.ops->sound(s + c.offset, c.params);
                       });
  }

  static bool is_spilled(const Word* e) { return (e[0] & kSpilled) != 0; }
  static Word* spilled(const Word* e) { return reinterpret_cast<Word*>(e[1]); }

 private:
  static constexpr Word kSpilled = Word{1} << 63;
  static constexpr std::size_t kMostCells = 1 + RecordLayout::kMostColumns;

  static void own_state(Word* e, Word* state) {
    e[0] = kSpilled;
    e[1] = reinterpret_cast<Word>(state);
  }

  // The row's inputs for one component; false when a null makes it skip the row.
  static bool reads(const Component& c, const Word* row, Inputs& in) {
    if (c.first < 0) return true;
    if (!((row[0] >> c.first) & 1)) return false;
    in.first = row[1 + c.first];
    if (c.second >= 0) {
      in.second = row[1 + c.second];
      in.second_valid = (row[0] >> c.second) & 1;
    }
    return true;
  }
  void fold(Word* s, const Word* row) const {
    for (const Component& c : layout_->components())
      if (Inputs in; reads(c, row, in)) c.ops->absorb(s + c.offset, in, c.params);
  }
  void prepend_one(const Component& c, Word* d, const Word* row, const Word* s) const {
    const std::size_t words = c.ops->words(c.params);
    Inputs in;
    if (!reads(c, row, in)) {
      if (d != s) std::copy_n(s + c.offset, words, d + c.offset);
    } else if (c.ops->commutative) {
      if (d != s) std::copy_n(s + c.offset, words, d + c.offset);
      c.ops->absorb(d + c.offset, in, c.params);
    } else if (c.ops->precede != nullptr) {
      if (d != s) std::copy_n(s + c.offset, words, d + c.offset);
      c.ops->precede(d + c.offset, in, c.params);
    } else {
      Word lifted[kMostWords];
      c.ops->identity(lifted, c.params);
      c.ops->absorb(lifted, in, c.params);
      c.ops->combine(d + c.offset, lifted, s + c.offset, c.params);
    }
  }

  std::shared_ptr<const RecordLayout> layout_;
};
static_assert(Monoid<Record>);

}  // namespace sash
