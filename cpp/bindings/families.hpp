// The binding files, one per family.
#pragma once

#include <nanobind/nanobind.h>

namespace sash_py {
void bind_windows(nanobind::module_& m);
void bind_flat_fat(nanobind::module_& m);
void bind_trees(nanobind::module_& m);
void bind_rolling(nanobind::module_& m);
void bind_operators(nanobind::module_& m);
void bind_columns(nanobind::module_& m);
void bind_interrupts(nanobind::module_& m);
}  // namespace sash_py
