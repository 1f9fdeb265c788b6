// Saving and loading a structure: numbers, times and cells, each in a buffer of its own.
//
// The buffers become columns of a snapshot (sash/_snapshot.py). Loading trusts nothing: every read
// is bounded, every state and entry is checked before it is used.
//
// Words are written as they lie in memory, least byte first.
#pragma once

#include <bit>
#include <cstring>
#include <string>

#include "port.hpp"
#include "sash/poll.hpp"

namespace sash_py {

static_assert(std::endian::native == std::endian::little,
              "Sash needs a little-endian machine: snapshots hold words least byte first");

class Saving {
 public:
  static constexpr bool loading = false;
  Saving();
  ~Saving();
  template <class M>
  void count(std::uint64_t n, const M&) {
    number(n);
  }
  void number(std::uint64_t n);
  void time(std::int64_t t);
  void require(bool, const char*) {}

  template <class M>
  void state(const M& m, const typename M::Cell* s) {
    poll_();
    if constexpr (requires { m.inner(); }) state(m.inner(), s);
    else if constexpr (std::is_same_v<M, PyMonoid>)
      objects_.append(*s != nullptr ? nb::borrow(*s) : absent());
    else raw(s, m.state_cells() * sizeof(typename M::Cell));
  }
  template <class M>
  void entry(const M& m, const typename M::Cell* e) {
    if constexpr (std::is_same_v<M, sash::Record>) {
      poll_();
      const Word tag = sash::Record::is_spilled(e);
      raw(&tag, sizeof tag);
      if (tag) state(m, sash::Record::spilled(e));
      else raw(e, m.entry_cells() * sizeof(Word));
    } else {
      state(m, e);
    }
  }
  // What was told of a window (sash/slicing/outcomes.hpp).
  template <class M, class Outcomes>
  void outcome(const M& m, const Outcomes& all, std::size_t i) {
    if constexpr (std::is_same_v<M, PyMonoid>) {
      PyObject* state = all.state(i).ptr();
      this->state(m, &state);
    } else {
      raw(all.row(i), all.stride() * sizeof(Word));
    }
  }
  nb::tuple take();
  static nb::object absent() { return nb::ellipsis(); }

 private:
  void raw(const void* from, std::size_t bytes);
  std::string numbers_, times_, cells_;
  nb::list objects_;
  sash::Poll poll_;
};

class Loading {
 public:
  static constexpr bool loading = true;
  Loading(nb::bytes numbers, nb::bytes times, nb::bytes cells, nb::list objects);
  ~Loading();

  template <class N>
  void number(N& n) {
    std::uint64_t value = 0;
    numbers_.read(&value, 8);
    n = static_cast<N>(value);
  }
  // How many entries follow. They take their bytes each, so a lie cannot claim memory.
  template <class M>
  void count(std::size_t& n, const M& m) {
    number(n);
    const std::size_t least = std::min(m.state_cells(), m.entry_cells()) * sizeof(typename M::Cell);
    constexpr bool objects = std::is_same_v<M, PyMonoid>;
    const std::size_t most = objects ? objects_.size() : cells_.size() / least;
    require(n <= most, "it counts more entries than it has");
  }
  void time(std::int64_t& t) { times_.read(&t, 8); }
  void require(bool holds, const char* what) const {
    if (!holds) [[unlikely]]
      refuse(what);
  }

  template <class M>
  void state(const M& m, typename M::Cell* s) {
    poll_();
    if constexpr (requires { m.inner(); }) {
      state(m.inner(), s);
    } else if constexpr (std::is_same_v<M, PyMonoid>) {
      object(m, s);
    } else {
      cells_.read(s, m.state_cells() * sizeof(typename M::Cell));
      if (!m.sound(s)) {
        m.set_identity(s);
        refuse("a state is not one of this aggregate");
      }
    }
  }
  template <class M>
  void entry(const M& m, typename M::Cell* e) {
    if constexpr (std::is_same_v<M, sash::Record>) {
      poll_();
      Word tag = 0;
      cells_.read(&tag, sizeof tag);
      if (tag != 0) {
        std::vector<Word> whole(sash::slot_cells(m));
        state(m, whole.data());
        return m.entry_from_state(e, whole.data());
      }
      std::vector<Word> row(m.entry_cells());
      cells_.read(row.data(), row.size() * sizeof(Word));
      require(row[0] >> m.layout().columns() == 0, "an entry has columns it cannot have");
      m.lift(e, sash::Row{row.data() + 1, row[0]});
    } else {
      state(m, e);
    }
  }
  template <class M, class Outcomes>
  void add_outcome(const M& m, Outcomes& all) {
    sash::Held<M> held(m);
    if constexpr (std::is_same_v<M, PyMonoid>) {
      state(m, held.get());
      all.push(held.get());
    } else {
      all.push(held.get());
      cells_.read(all.row(all.size() - 1), all.stride() * sizeof(Word));
    }
  }
  void finish() const;

 private:
  [[noreturn]] static void refuse(const char* what);
  class Reader {
   public:
    explicit Reader(nb::bytes b) : kept_(b) {}
    void read(void* to, std::size_t bytes);
    bool done() const { return at_ == kept_.size(); }
    std::size_t size() const { return kept_.size(); }

   private:
    nb::bytes kept_;
    std::size_t at_ = 0;
  };
  void object(const PyMonoid& m, PyObject** s);
  Reader numbers_, times_, cells_;
  nb::list objects_;
  std::size_t next_ = 0;
  sash::Poll poll_;
};

}  // namespace sash_py
