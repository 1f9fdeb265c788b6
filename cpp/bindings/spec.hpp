// What Python says of an aggregate, parsed once: which monoid, how values come in and go out.
//
// The Python side (sash/_compile.py) gives a dict:
//   {"kind": "scalar", "name", "ints", "doubles", "in": code, "out": code}
//   {"kind": "record", "components": [(name, ints, doubles, first, second)], "cells": [(source,
//    code)], "sources": names or None each, "outs": [(code, finish or None)], "single": bool}
//   {"kind": "python", "lift", "combine", "lower", "identity", "inverse", "commutative",
//    "skip_nulls"}
// Codes of a cell: f float64, i int64, b bool, h hash, c HyperLogLog coupon, * any value.
// Codes of an output: f, i, b, and B: bytes handed to `finish`.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "errors.hpp"
#include "py_monoid.hpp"
#include "sash/record.hpp"
#include "sash/registry.hpp"
#include "sash/small.hpp"

namespace sash_py {

using sash::Word;

struct CellSpec {
  int source;
  char code;
};

struct OutSpec {
  char code;
  nb::object finish;
};

struct Spec {
  enum Kind { scalar, record, python } kind;
  std::string name;
  sash::Params params;
  std::vector<CellSpec> cells;      // for a scalar: the one input
  std::vector<nb::object> sources;  // names, or none: by position
  std::vector<OutSpec> outs;
  bool single = true;  // one aggregate: values are not wrapped in tuples
  std::shared_ptr<const sash::RecordLayout> layout;
  std::shared_ptr<const PyFunctions> functions;
};

Spec parse_spec(nb::dict d);

// The scalars that a structure is compiled for: all, or for comparators the one their benchmarks
// need. The others run as records of one component, to the same results. `sizes`: scalars are told
// apart by the size of their states alone.
enum class Scalars { all, few, sizes };

// Calls f with the monoid a spec names. Everything a structure is compiled for passes through here.
template <Scalars Which, class F>
void with_monoid(const Spec& spec, F&& f) {
  if (spec.kind == Spec::python) return f(PyMonoid(spec.functions));
  if (spec.kind == Spec::scalar) {
    if constexpr (Which == Scalars::all) {
      if (sash::with_scalar(spec.name, spec.params, f)) return;
    } else if constexpr (Which == Scalars::sizes) {
      const sash::Component& one = spec.layout->components()[0];
      if (sash::with_small(one.ops, one.params, f)) return;
    } else if (spec.name == "sum_f64") {
      return f(sash::Scalar<sash::SumF64>{});
    }
  }
  f(sash::Record(spec.layout));
}

}  // namespace sash_py
