#include "spec.hpp"

#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

namespace sash_py {

namespace {

sash::Params params_of(nb::handle ints, nb::handle doubles) {
  return {nb::cast<std::vector<std::int64_t>>(ints), nb::cast<std::vector<double>>(doubles)};
}

char code_of(nb::handle h) { return nb::cast<std::string>(h).at(0); }

const sash::Ops* ops_of(const std::string& name) {
  const sash::Ops* ops = sash::find_ops(name);
  if (ops == nullptr) raise(PyExc_ValueError, "no native aggregate is called " + name);
  return ops;
}

void parse_record(nb::dict d, Spec& spec) {
  std::vector<sash::Component> components;
  for (nb::handle item : nb::cast<nb::sequence>(d["components"])) {
    const auto t = nb::cast<nb::tuple>(item);
    sash::Component c{ops_of(nb::cast<std::string>(t[0])), params_of(t[1], t[2]),
                      nb::cast<int>(t[3]), nb::cast<int>(t[4])};
    components.push_back(std::move(c));
  }
  for (nb::handle item : nb::cast<nb::sequence>(d["cells"])) {
    const auto t = nb::cast<nb::tuple>(item);
    spec.cells.push_back({nb::cast<int>(t[0]), code_of(t[1])});
  }
  for (nb::handle item : nb::cast<nb::sequence>(d["sources"]))
    spec.sources.push_back(nb::borrow(item));
  for (nb::handle item : nb::cast<nb::sequence>(d["outs"])) {
    const auto t = nb::cast<nb::tuple>(item);
    spec.outs.push_back({code_of(t[0]), nb::borrow(t[1])});
  }
  spec.single = nb::cast<bool>(d["single"]);
  spec.layout =
      std::make_shared<const sash::RecordLayout>(std::move(components), spec.cells.size());
}

void parse_python(nb::dict d, Spec& spec) {
  auto f = std::make_shared<PyFunctions>();
  f->lift = nb::borrow(d["lift"]);
  f->combine = nb::borrow(d["combine"]);
  f->lower = nb::borrow(d["lower"]);
  f->identity = nb::borrow(d["identity"]);
  f->inverse = nb::borrow(d["inverse"]);
  f->commutative = nb::cast<bool>(d["commutative"]);
  f->skip_nulls = nb::cast<bool>(d["skip_nulls"]);
  spec.functions = std::move(f);
}

}  // namespace

Spec parse_spec(nb::dict d) {
  Spec spec;
  const auto kind = nb::cast<std::string>(d["kind"]);
  if (kind == "python") {
    spec.kind = Spec::python;
    parse_python(d, spec);
  } else if (kind == "record") {
    spec.kind = Spec::record;
    parse_record(d, spec);
  } else {
    spec.kind = Spec::scalar;
    spec.name = nb::cast<std::string>(d["name"]);
    spec.params = params_of(d["ints"], d["doubles"]);
    spec.cells.push_back({0, code_of(d["in"])});
    spec.outs.push_back({code_of(d["out"]), nb::none()});
    spec.sources.push_back(nb::none());
    std::vector<sash::Component> one{{ops_of(spec.name), spec.params, 0, -1}};
    spec.layout = std::make_shared<const sash::RecordLayout>(std::move(one), 1);
  }
  return spec;
}

}  // namespace sash_py
