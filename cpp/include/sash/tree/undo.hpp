// All or nothing, for monoids whose operations may throw.
//
// An operation first changes the structure, which only moves bytes, and then computes states in
// slots that stay where they are. So it is undone by dropping the states it made and putting back
// the bytes of what it touched:
//
//   image(p, n)    bytes at p as they were, before their first change
//   fresh(s)       s is about to be computed anew: its old state is kept here, s holds nothing
//   keep(s)        the same, but s starts as a copy of the old state
//   retire(e)      an entry leaves; it is dropped when the operation has succeeded
//   born(node)     a new node, given back on failure
//   freed(node)    a node (or a whole subtree) out of use, given up when the operation has succeeded
//
// Entries that come in belong to the caller until the operation has succeeded.
#pragma once

#include <vector>

#include "sash/tree/node.hpp"

namespace sash::tree {

template <Monoid M>
class Undo {
 public:
  using Cell = typename M::Cell;

  void image(void* at, std::size_t n) {
    images_.push_back({at, n, bytes_.size()});
    try {
      const auto* from = static_cast<std::byte*>(at);
      bytes_.insert(bytes_.end(), from, from + n);
    } catch (...) {
      images_.pop_back();
      throw;
    }
  }
  void image(Head* x, std::size_t n) {
    if (x->saved != 0) return;
    image(static_cast<void*>(x), n);
    nodes_.push_back(x);
    x->saved = 1;
  }
  void fresh(const M& m, Cell* s) {
    const std::size_t n = m.state_cells();
    reserve_one(fresh_);
    states_.insert(states_.end(), s, s + n);
    fresh_.push_back(s);
    m.start(s, n);
  }
  void keep(const M& m, Cell* s) {
    fresh(m, s);
    m.copy_state(s, states_.data() + states_.size() - m.state_cells());
  }
  // A slot of raw memory that will hold a state.
  void started(const M& m, Cell* s) {
    reserve_one(fresh_);
    states_.resize(states_.size() + m.state_cells());
    fresh_.push_back(s);
    m.start(states_.data() + states_.size() - m.state_cells(), m.state_cells());
    m.start(s, m.state_cells());
  }
  // A state whose slot becomes raw memory.
  void retire_state(const M& m, const Cell* s) {
    reserve_one(fresh_);
    states_.insert(states_.end(), s, s + m.state_cells());
    fresh_.push_back(nullptr);
  }
  void retire(const M& m, const Cell* e) {
    entries_.insert(entries_.end(), e, e + m.entry_cells());
  }
  // Called before the node is made, so that born() cannot fail.
  void expect_node() {
    reserve_one(born_);
    reserve_one(nodes_);
  }
  void born(Head* x) {
    born_.push_back(x);
    nodes_.push_back(x);
    x->saved = 1;  // nothing to put back
  }
  void freed(Head* x, bool subtree) { freed_.push_back({x, subtree}); }

  // free_node(x, subtree) gives memory back; a subtree's contents are to be dropped with it.
  template <class Free>
  void commit(const M& m, Free&& free_node) {
    for (Head* x : nodes_) x->saved = 0;
    for (std::size_t i = 0; i < fresh_.size(); ++i)
      m.drop_state(states_.data() + i * m.state_cells());
    for (std::size_t i = 0; i < entries_.size(); i += m.entry_cells())
      m.drop_entry(entries_.data() + i);
    for (const Freed& f : freed_) free_node(f.node, f.subtree);
    forget();
  }
  template <class Free>
  void rollback(const M& m, Free&& free_node) {
    const std::size_t n = m.state_cells();
    for (std::size_t i = fresh_.size(); i-- > 0;) {
      if (fresh_[i] == nullptr) continue;
      m.drop_state(fresh_[i]);
      std::copy_n(states_.data() + i * n, n, fresh_[i]);
    }
    for (auto i = images_.rbegin(); i != images_.rend(); ++i)
      std::memcpy(i->at, bytes_.data() + i->offset, i->bytes);
    for (Head* x : nodes_) x->saved = 0;
    for (Head* x : born_) free_node(x, false);
    forget();
  }

 private:
  struct Image {
    void* at;
    std::size_t bytes, offset;
  };
  struct Freed {
    Head* node;
    bool subtree;
  };
  template <class T>
  static void reserve_one(std::vector<T>& all) {
    if (all.size() == all.capacity()) all.reserve(2 * all.size() + 8);
  }
  void forget() {
    const auto empty = [](auto&... all) { (give_up(all), ...); };
    empty(images_, bytes_, nodes_, fresh_, states_, entries_, born_, freed_);
  }
  // What a large operation needed is not kept for the small ones after it.
  template <class T>
  static void give_up(std::vector<T>& all) {
    all.clear();
    if (all.capacity() * sizeof(T) > kKept) std::vector<T>().swap(all);
  }
  static constexpr std::size_t kKept = std::size_t{1} << 16;

  std::vector<Image> images_;
  std::vector<std::byte> bytes_;
  std::vector<Head*> nodes_, born_;
  std::vector<Cell*> fresh_;
  std::vector<Cell> states_, entries_;
  std::vector<Freed> freed_;
};

}  // namespace sash::tree
