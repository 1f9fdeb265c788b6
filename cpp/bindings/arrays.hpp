// Vectors as NumPy arrays that own them.
#pragma once

#include <nanobind/ndarray.h>

#include <vector>

#include "errors.hpp"

namespace sash_py {

template <class T>
nb::object array_of(std::vector<T> values) {
  auto* kept = new std::vector<T>(std::move(values));
  nb::capsule owner(kept, [](void* p) noexcept { delete static_cast<std::vector<T>*>(p); });
  const std::size_t shape[1] = {kept->size()};
  return nb::cast(nb::ndarray<nb::numpy, T>(kept->data(), 1, shape, owner));
}

}  // namespace sash_py
