// Port<M>: how values reach a monoid from Python and results return, one at a time or by column.
//
//   port.read(value)            -> M::In for one Python value
//   Column<M> c(spec, columns)  -> c.size(), c.reader().at(i): M::In of row i of a whole column
//   port.lower(state)           -> the Python object for a state
//   Results<M> r(spec, n)       -> r.writer().put(m, i, state), then r.done(writer), r.take()
//
// Native columns come as (cells, valid) pairs: a contiguous array of 8-byte words for each cell and
// a byte mask or None; results go back as (words, valid) pairs, words of shape (n, out_words).
#pragma once

#include <nanobind/ndarray.h>

#include "sash/big_pages.hpp"
#include "sash/record.hpp"
#include "values.hpp"

namespace sash_py {

using WordColumn = nb::ndarray<const Word, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using ByteColumn = nb::ndarray<const std::uint8_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

// The native cells of a batch, and the references that keep them alive.
class NativeColumns {
 public:
  NativeColumns(nb::handle columns, std::size_t expected);
  ~NativeColumns();
  NativeColumns(const NativeColumns&) = delete;
  NativeColumns& operator=(const NativeColumns&) = delete;
  std::size_t size() const { return size_; }
  void set_size(std::size_t n) { size_ = n; }
  const Word* words(std::size_t c) const { return words_[c]; }
  const std::uint8_t* valid(std::size_t c) const { return valid_[c]; }  // null: all are

 private:
  void check(std::size_t n) const;
  std::vector<const Word*> words_;
  std::vector<const std::uint8_t*> valid_;
  std::vector<nb::object> kept_;
  std::size_t size_ = 0;
};

template <class M>
class Port;
template <class M>
class Column;
template <class M>
class Results;

// ---- native results: words and a mask, made into arrays when done -------------------------------
class NativeResults {
 public:
  NativeResults(std::size_t rows, std::vector<std::size_t> widths);
  ~NativeResults();
  NativeResults(const NativeResults&) = delete;
  NativeResults& operator=(const NativeResults&) = delete;
  Word* at(std::size_t c, std::size_t row) { return words_[c].get() + row * widths_[c]; }
  std::uint8_t* valid(std::size_t c) { return valid_[c].get(); }
  void set_nulls(std::size_t c, bool nulls) { nulls_[c] = nulls; }
  void blank(std::size_t c, std::size_t row) {
    std::fill_n(at(c, row), widths_[c], 0);
    valid_[c][row] = 0;
  }
  nb::object take();

 private:
  std::size_t rows_;
  std::vector<std::size_t> widths_;
  std::vector<std::unique_ptr<Word[]>> words_;
  std::vector<std::unique_ptr<std::uint8_t[]>> valid_;
  std::vector<char> nulls_;
};

// ---- scalars ------------------------------------------------------------------------------------
template <class S>
class Port<sash::Scalar<S>> {
 public:
  using M = sash::Scalar<S>;
  static constexpr bool native = true;
  explicit Port(const Spec& spec) : code_(spec.cells[0].code), out_(spec.outs[0].code) {}

  typename M::In read(nb::handle v) const {
    if (v.is_none()) return {{}, false};
    if constexpr (std::is_same_v<typename S::In, double>) return {to_double(v), true};
    else if constexpr (std::is_same_v<typename S::In, std::int64_t>) return {to_int(v), true};
    else return {0, true};
  }
  nb::object lower(const M& m, const typename M::Cell* s) const {
    typename S::Out out;
    if (!m.s.lower(*s, out)) return nb::none();
    return from_word(std::bit_cast<Word>(out), out_);
  }

 private:
  char code_, out_;
};

template <class S>
class Column<sash::Scalar<S>> {
 public:
  using In = typename sash::Scalar<S>::In;
  // What a loop over rows reads: plain pointers, so that they stay in registers.
  struct Reader {
    const typename S::In* values;
    const std::uint8_t* valid;
    In at(std::size_t i) const { return {values[i], valid == nullptr || valid[i] != 0}; }
  };
  Column(const Spec& spec, nb::handle columns) : columns_(columns, spec.cells.size()) {}
  std::size_t size() const { return columns_.size(); }
  Reader reader() const {
    return {reinterpret_cast<const typename S::In*>(columns_.words(0)), columns_.valid(0)};
  }

 private:
  NativeColumns columns_;
};

template <class S>
class Results<sash::Scalar<S>> {
 public:
  using M = sash::Scalar<S>;
  struct Writer {
    typename S::Out* values;
    std::uint8_t* valid;
    bool nulls = false;
    void put(const M& m, std::size_t row, const typename M::Cell* s) {
      const bool there = m.s.lower(*s, values[row]);
      valid[row] = there;
      nulls |= !there;
    }
    void put_null(std::size_t row) {
      values[row] = {};
      valid[row] = 0;
      nulls = true;
    }
  };
  Results(const Spec&, std::size_t rows) : results_(rows, {1}) {}
  Writer writer() {
    return {reinterpret_cast<typename S::Out*>(results_.at(0, 0)), results_.valid(0)};
  }
  void done(const Writer& w) {
    if (w.nulls) results_.set_nulls(0, true);
  }
  nb::object take() { return results_.take(); }

 private:
  NativeResults results_;
};

// ---- scalars whose operations are called -------------------------------------------------------
template <std::size_t Words>
class Port<sash::Small<Words>> {
 public:
  static constexpr bool native = true;
};

template <std::size_t Words>
class Column<sash::Small<Words>> {
 public:
  struct Reader {
    const Word* values;
    const std::uint8_t* valid;
    sash::Nullable<Word> at(std::size_t i) const {
      return {values[i], valid == nullptr || valid[i] != 0};
    }
  };
  Column(const Spec& spec, nb::handle columns) : columns_(columns, spec.cells.size()) {}
  std::size_t size() const { return columns_.size(); }
  Reader reader() const { return {columns_.words(0), columns_.valid(0)}; }

 private:
  NativeColumns columns_;
};

// ---- records ------------------------------------------------------------------------------------
template <>
class Port<sash::Record> {
 public:
  static constexpr bool native = true;
  explicit Port(const Spec& spec) : spec_(&spec), reader_(spec) {}
  sash::Row read(nb::handle v) { return reader_.read(v); }
  nb::object lower(const sash::Record& m, const Word* s) const;

 private:
  const Spec* spec_;
  RowReader reader_;
};

template <>
class Column<sash::Record> {
 public:
  // Rows are gathered from their columns here, so that several threads can read one batch.
  class Reader {
   public:
    explicit Reader(const NativeColumns& columns, std::size_t cells)
        : columns_(columns), row_(cells) {}
    sash::Row at(std::size_t i) {
      Word valid = 0;
      for (std::size_t c = 0; c < row_.size(); ++c) {
        row_[c] = columns_.words(c)[i];
        const std::uint8_t* mask = columns_.valid(c);
        valid |= static_cast<Word>(mask == nullptr || mask[i] != 0) << c;
      }
      return {row_.data(), valid};
    }

   private:
    const NativeColumns& columns_;
    std::vector<Word> row_;
  };
  Column(const Spec& spec, nb::handle columns)
      : columns_(columns, spec.cells.size()), cells_(spec.cells.size()) {}
  // A record that only counts rows reads no column: its caller says how many rows there are.
  void set_size(std::size_t n) { columns_.set_size(n); }
  std::size_t size() const { return columns_.size(); }
  Reader reader() const { return Reader(columns_, cells_); }

 private:
  NativeColumns columns_;
  std::size_t cells_;
};

template <>
class Results<sash::Record> {
 public:
  class Writer {
   public:
    explicit Writer(NativeResults& results, std::size_t width) : results_(results), nulls_(width) {}
    void put(const sash::Record& m, std::size_t row, const Word* s) {
      std::size_t i = 0;
      for (const sash::Component& c : m.layout().components()) {
        const bool there = c.ops->lower(s + c.offset, results_.at(i, row), c.params);
        results_.valid(i)[row] = there;
        if (!there) nulls_[i] = true;
        ++i;
      }
    }
    void put_null(std::size_t row) {
      for (std::size_t i = 0; i < nulls_.size(); ++i) {
        results_.blank(i, row);
        nulls_[i] = true;
      }
    }
    const std::vector<char>& nulls() const { return nulls_; }

   private:
    NativeResults& results_;
    std::vector<char> nulls_;
  };
  Results(const Spec& spec, std::size_t rows)
      : results_(rows, widths(spec)), width_(spec.layout->components().size()) {}
  Writer writer() { return Writer(results_, width_); }
  void done(const Writer& w) {
    for (std::size_t i = 0; i < width_; ++i)
      if (w.nulls()[i]) results_.set_nulls(i, true);
  }
  nb::object take() { return results_.take(); }

 private:
  static std::vector<std::size_t> widths(const Spec& spec) {
    std::vector<std::size_t> all;
    for (const sash::Component& c : spec.layout->components())
      all.push_back(c.ops->out_words(c.params));
    return all;
  }
  NativeResults results_;
  std::size_t width_;
};

// ---- Python objects -----------------------------------------------------------------------------
template <>
class Port<PyMonoid> {
 public:
  static constexpr bool native = false;
  explicit Port(const Spec&) {}
  nb::handle read(nb::handle v) const { return v; }
  nb::object lower(const PyMonoid& m, PyObject* const* s) const { return m.lower(s); }
};

template <>
class Column<PyMonoid> {
 public:
  Column(const Spec&, nb::handle values) : values_(nb::borrow<nb::list>(values)) {}
  std::size_t size() const { return values_.size(); }
  const Column& reader() const { return *this; }
  nb::handle at(std::size_t i) const {
    if (i >= values_.size()) raise(PyExc_RuntimeError, "the list of values changed while in use");
    kept_ = nb::object(values_[i]);
    return kept_;
  }

 private:
  nb::list values_;
  mutable nb::object kept_;
};

template <>
class Results<PyMonoid> {
 public:
  Results(const Spec&, std::size_t) {}
  Results& writer() { return *this; }
  void done(const Results&) {}
  // One after the other: a caller that has rows in another order puts them there itself.
  void put(const PyMonoid& m, std::size_t, PyObject* const* s) { list_.append(m.lower(s)); }
  void put_null(std::size_t) { list_.append(nb::none()); }
  nb::object take() { return list_; }

 private:
  nb::list list_;
};

}  // namespace sash_py
