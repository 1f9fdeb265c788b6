// What a structure asks of its monoid.
//
// A window keeps *entries* (one per row) and *states* (aggregates of several rows). For most
// aggregates an entry is simply a small state; for big ones (a Bloom filter of 2 KB) an entry is
// the raw row, and is folded into states without ever being expanded. Structures never look inside
// either: they move cells and call the operations below, so one source serves
//
//   Scalar<S>   a fixed small struct, everything inlined          (scalars.hpp)
//   Small<n>    a scalar of n words, its operations called        (small.hpp)
//   Record      any list of aggregates chosen at run time         (record.hpp)
//   PyMonoid    Python objects and callables                      (bindings/py_monoid.hpp)
//
// Both entries and states live in arrays of `Cell`. They are trivially relocatable: moving their
// bytes moves them, and the place they left is raw memory again.
//
//   m.state_cells(), m.entry_cells()   size of each in cells
//   m.start(c, cells)                  raw memory -> "holds nothing", fit for any write below
//   m.drop_entry(c), m.drop_state(c)   give up what is held; the slot holds nothing afterwards
//   m.lift(e, in)                      e  := the entry for one input row (a null lifts to identity)
//   m.set_identity(s)                  s  := 1
//   m.copy_state(d, s), m.copy_entry   d  := s
//   m.to_state(d, e)                   d  := e as a state            (d may be e's own slot)
//   m.append(s, e)                     s  := s (x) e
//   m.prepend(d, e, s)                 d  := e (x) s                 (d may be e's slot or s's)
//   m.combine(d, a, b)                 d  := a (x) b                 (d may be a or b)
//   m.merge_entry(e, later)            e  := e (x) later, both entries (equal times)
//
// Every destination must have been started. When an operation throws, its destination keeps the
// value it had. Laws are known statically where they can be (`M::nothrow`, `Invertible<M>`) and
// asked of the object otherwise.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <memory>

namespace sash {

using Word = std::uint64_t;

enum class Holds { entry, state };  // what a slot holds

template <class M>
concept Monoid = requires(const M m, typename M::Cell* d, const typename M::Cell* a,
                          const typename M::Cell* b, const typename M::In& in) {
  { M::nothrow } -> std::convertible_to<bool>;             // no operation throws
  { M::trivial } -> std::convertible_to<bool>;             // start and drop do nothing
  { M::fixed_cells } -> std::convertible_to<std::size_t>;  // cells per slot, 0: known at run time
  { m.state_cells() } -> std::convertible_to<std::size_t>;
  { m.entry_cells() } -> std::convertible_to<std::size_t>;
  { m.commutative() } -> std::convertible_to<bool>;
  { m.exact() } -> std::convertible_to<bool>;  // regrouping never changes a result
  m.start(d, std::size_t{});
  m.drop_entry(d);
  m.drop_state(d);
  m.lift(d, in);
  m.set_identity(d);
  m.copy_state(d, a);
  m.copy_entry(d, a);
  m.to_state(d, a);
  m.append(d, a);
  m.prepend(d, a, b);
  m.combine(d, a, b);
  m.merge_entry(d, a);
  { m.same_state(a, b) } -> std::convertible_to<bool>;
};

// s (x) e followed by uncombine_front(s, e) gives back what stood right of e.
template <class M>
concept Invertible =
    Monoid<M> && requires(const M m, typename M::Cell* s, const typename M::Cell* e) {
      m.uncombine_front(s, e);  // s := r where s = e (x) r
    };

// Cells one slot needs when it holds an entry at one moment and a state at another.
template <Monoid M>
constexpr std::size_t slot_cells(const M& m) {
  if constexpr (M::fixed_cells != 0) {
    return M::fixed_cells;
  } else {
    return m.state_cells() > m.entry_cells() ? m.state_cells() : m.entry_cells();
  }
}

// One state owned by a structure or a local variable; on the stack when its size is known.
template <Monoid M>
class Held {
 public:
  using Cell = typename M::Cell;
  explicit Held(const M& m) : m_(&m) {
    if constexpr (M::fixed_cells == 0) heap_ = std::make_unique<Cell[]>(slot_cells(m));
    m.start(get(), slot_cells(m));
    m.set_identity(get());
  }
  Held(const Held&) = delete;
  Held& operator=(const Held&) = delete;
  ~Held() {
    if constexpr (!M::trivial) m_->drop_state(get());
  }

  Cell* get() {
    if constexpr (M::fixed_cells == 0) return heap_.get();
    else return inline_;
  }
  const Cell* get() const { return const_cast<Held*>(this)->get(); }

 private:
  struct None {};
  [[no_unique_address]] std::conditional_t<M::fixed_cells == 0, std::unique_ptr<Cell[]>, None>
      heap_;
  Cell inline_[M::fixed_cells == 0 ? 1 : M::fixed_cells];
  const M* m_;
};

}  // namespace sash
