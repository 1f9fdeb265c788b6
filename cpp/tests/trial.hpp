// What trials share: a step is made in a structure and in its model, with failures on the way, and
// compared as often as the trial says.
#pragma once

#include <string>

#include "dice.hpp"
#include "monoids.hpp"

namespace sash::trials {

struct Tally {
  std::uint64_t operations = 0, comparisons = 0, undone = 0;
  void operator+=(const Tally& o) {
    operations += o.operations, comparisons += o.comparisons, undone += o.undone;
  }
};

template <class M>
class Trial {
 public:
  using Value = decltype(typename M::In{}.value);
  const Tally& tally() const { return tally_; }

 protected:
  Trial(Dice& dice, std::string name) : dice_(dice), own_(1), name_(std::move(name)) {}

  Value value() { return static_cast<Value>(own_.below(1000)); }
  void expect(bool holds, const char* what) const {
    if (!holds) fail(what, name_);
  }

  // Where the monoid may throw, a step is tried with a short fuse first: one that throws must leave
  // everything as it was, which verify() sees to. True when `change` has happened.
  template <class Change, class Verify>
  void attempt(Change&& change, Verify&& verify) {
    if constexpr (!M::nothrow) {
      for (auto tries = dice_.below(3); tries > 0; --tries) {
        fuse = static_cast<long>(dice_.below(40));
        try {
          change();
          fuse = -1;
          return;
        } catch (const std::runtime_error&) {
          fuse = -1;
          ++tally_.undone;
          verify();
        }
      }
    }
    change();
  }

  M m_;
  Dice& dice_;
  Dice own_;  // what need not be chosen: values, and which ranges are asked for
  Tally tally_;
  std::string name_;
};

}  // namespace sash::trials
