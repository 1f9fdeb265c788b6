#include "archive.hpp"

namespace sash_py {

Saving::Saving() = default;
Saving::~Saving() = default;

void Saving::number(std::uint64_t n) { numbers_.append(reinterpret_cast<const char*>(&n), 8); }

void Saving::time(std::int64_t t) { times_.append(reinterpret_cast<const char*>(&t), 8); }

void Saving::raw(const void* from, std::size_t bytes) {
  cells_.append(static_cast<const char*>(from), bytes);
}

nb::tuple Saving::take() {
  return nb::make_tuple(nb::bytes(numbers_.data(), numbers_.size()),
                        nb::bytes(times_.data(), times_.size()),
                        nb::bytes(cells_.data(), cells_.size()), objects_);
}

Loading::Loading(nb::bytes numbers, nb::bytes times, nb::bytes cells, nb::list objects)
    : numbers_(numbers), times_(times), cells_(cells), objects_(objects) {}
Loading::~Loading() = default;

void Loading::refuse(const char* what) {
  raise(PyExc_ValueError, std::string("the snapshot is damaged: ") + what);
}

void Loading::finish() const {
  require(numbers_.done() && times_.done() && cells_.done() && next_ == objects_.size(),
          "it is longer than its contents");
}

void Loading::Reader::read(void* to, std::size_t bytes) {
  if (bytes > kept_.size() - at_)
    raise(PyExc_ValueError, "the snapshot is damaged: it ends too early");
  std::memcpy(to, kept_.c_str() + at_, bytes);
  at_ += bytes;
}

void Loading::object(const PyMonoid& m, PyObject** s) {
  require(next_ < objects_.size(), "it ends too early");
  const nb::object o = objects_[next_++];
  PyObject* held = o.is(Saving::absent()) ? nullptr : o.ptr();
  m.copy_state(s, &held);
}

}  // namespace sash_py
