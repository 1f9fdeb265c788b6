// What a Python window object holds, and the check that nobody else is inside it.
#pragma once

#include <memory>

#include "errors.hpp"

namespace sash_py {

// One window is one thread's at a time: column calls release the GIL, and a Python combine or the
// destructor of a dropped state may call back in. Either is refused, the window unharmed.
template <class Any>
class Holder {
 public:
  std::unique_ptr<Any> impl;

  class Use {
   public:
    explicit Use(Holder& h) : h_(h) {
      if (h.busy_) [[unlikely]]
        raise(PyExc_RuntimeError,
              "this window is in use by another call (from another thread, or from within its own "
              "aggregate's functions); give each thread its own window or use a lock");
      h.busy_ = true;
    }
    ~Use() { h_.busy_ = false; }
    Use(const Use&) = delete;
    Use& operator=(const Use&) = delete;
    Any* operator->() const { return h_.impl.get(); }

   private:
    Holder& h_;
  };
  Use use() { return Use(*this); }

 private:
  bool busy_ = false;
};

inline void refuse_empty(std::size_t size, const char* what) {
  if (size == 0) [[unlikely]]
    raise(PyExc_IndexError, std::string(what) + " an empty window");
}

}  // namespace sash_py
