// Copying a structure through its archive: Listed notes where its states and entries are, and
// Copying fills an empty structure with copies of them. Both poll.
#pragma once

#include <cstdint>
#include <vector>

#include "sash/poll.hpp"

namespace sash_py {

class Listed {
 public:
  static constexpr bool loading = false;
  template <class M>
  void count(std::uint64_t n, const M&) {
    number(n);
  }
  void number(std::uint64_t n) { numbers_.push_back(n); }
  void time(std::int64_t t) { number(static_cast<std::uint64_t>(t)); }
  void require(bool, const char*) {}
  template <class M>
  void state(const M&, const typename M::Cell* s) {
    cells_.push_back(s);
    poll_();
  }
  template <class M>
  void entry(const M& m, const typename M::Cell* e) {
    state(m, e);
  }

 private:
  friend class Copying;
  std::vector<std::uint64_t> numbers_;
  std::vector<const void*> cells_;
  sash::Poll poll_;
};

class Copying {
 public:
  static constexpr bool loading = true;
  explicit Copying(const Listed& from) : number_(from.numbers_.data()), cell_(from.cells_.data()) {}
  template <class M>
  void count(std::size_t& n, const M&) {
    number(n);
  }
  template <class N>
  void number(N& n) {
    n = static_cast<N>(*number_++);
  }
  void time(std::int64_t& t) { number(t); }
  void require(bool, const char*) {}
  template <class M>
  void state(const M& m, typename M::Cell* s) {
    m.copy_state(s, next<M>());
    poll_();
  }
  template <class M>
  void entry(const M& m, typename M::Cell* e) {
    m.copy_entry(e, next<M>());
    poll_();
  }

 private:
  template <class M>
  const typename M::Cell* next() {
    return static_cast<const typename M::Cell*>(*cell_++);
  }
  const std::uint64_t* number_;
  const void* const* cell_;
  sash::Poll poll_;
};

}  // namespace sash_py
