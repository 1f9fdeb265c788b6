// What a Python window object holds, and the check that nobody else is inside it.
#pragma once

#include <memory>

#ifdef __GLIBC__
#include <malloc.h>
#endif

#include "spec.hpp"

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

// Shows the collector the Python functions a window holds, so that a window that is part of its own
// aggregate's closure can be collected.
template <class Any>
int traverse(PyObject* self, visitproc visit, void* arg) {
  Py_VISIT(Py_TYPE(self));
  if (!nb::inst_ready(self)) return 0;
  const auto* holder = nb::inst_ptr<Holder<Any>>(self);
  if (holder->impl == nullptr) return 0;
  if constexpr (requires { holder->impl->visit(visit, arg); }) holder->impl->visit(visit, arg);
  const PyFunctions* f = holder->impl->spec().functions.get();
  if (f == nullptr) return 0;
  for (const nb::object* o : {&f->lift, &f->combine, &f->lower, &f->identity, &f->inverse})
    Py_VISIT(o->ptr());
  return 0;
}

template <class Any>
const PyType_Slot* collected() {
  static const PyType_Slot slots[] = {{Py_tp_traverse, reinterpret_cast<void*>(&traverse<Any>)},
                                      {0, nullptr}};
  return slots;
}

// After a call that took many entries out: asks the C library to return what is free to the system,
// which it does by itself only at the end of its heap. Single evictions never wait for this.
inline void return_memory([[maybe_unused]] std::size_t dropped) {
#ifdef __GLIBC__
  constexpr std::size_t many = std::size_t{1} << 19;
  if (dropped >= many) malloc_trim(0);
#endif
}

inline void refuse_empty(std::size_t size, const char* what) {
  if (size == 0) [[unlikely]]
    raise(PyExc_IndexError, std::string(what) + " an empty window");
}

}  // namespace sash_py
