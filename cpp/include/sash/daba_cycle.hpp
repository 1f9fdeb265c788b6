// The sizes of DABA's lists and the cases of its fixup, shared by Daba and DabaLite.
//
// The window is lF followed by lB; the right end of lF holds lL, lR and lA, in that order:
//
//   F ......... L ..... R ..... A ..... B ............ E
//   [            lF                    )[     lB       )
//               [ lL   )[ lR   )[ lA   )
//
// A flip makes the former lF and lB, of equal length k, the new lL and lR. Then come k shrink steps
// (the first of lL joins lF's finished part, the last of lR joins lA) and k shift steps (the first
// of lA joins the finished part), one for each insert or evict, until the next flip. So the five
// inner positions of the paper are three lengths here, and a shift is one decrement.
//
// Size invariants (DABA article, section 5): the window is empty, or 2 |lL| + |lA| + 1 = |lF| - |lB|.
#pragma once

#include <cstddef>

namespace sash {

enum class DabaStep { singleton, shift, shrink, flip_and_shrink };

struct DabaCycle {
  std::size_t front = 0;  // |lF|
  std::size_t inner = 0;  // |lL| = |lR|
  std::size_t ready = 0;  // |lA|

  // What the window, which has just become n entries with lF already shortened by an evict, must do
  // to restore the size invariants. The lengths are brought up to date; the caller combines.
  DabaStep next(std::size_t n) {
    if (inner != 0) {
      --inner, ++ready;
      return DabaStep::shrink;
    }
    if (ready != 0) {
      --ready;
      return DabaStep::shift;
    }
    if (front == 0) {
      front = n;
      return DabaStep::singleton;
    }
    inner = front - 1;
    ready = 1;
    front = n;
    return DabaStep::flip_and_shrink;
  }

  // Indices of the inner positions, the oldest entry being 0.
  std::size_t b() const { return front; }
  std::size_t a() const { return front - ready; }
  std::size_t r() const { return front - ready - inner; }
  std::size_t l() const { return front - ready - 2 * inner; }

  bool holds(std::size_t n) const {
    if (n == 0) return front == 0 && inner == 0 && ready == 0;
    if (front > n || inner > n || ready > n) return false;
    return 2 * inner + ready + 1 + (n - front) == front;
  }
};

}  // namespace sash
