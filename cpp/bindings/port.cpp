#include "port.hpp"

namespace sash_py {

NativeColumns::NativeColumns(nb::handle columns, std::size_t expected) {
  for (nb::handle pair : nb::cast<nb::sequence>(columns)) {
    const auto t = nb::cast<nb::tuple>(pair);
    auto words = nb::cast<WordColumn>(t[0]);
    if (words_.empty()) size_ = words.shape(0);
    words_.push_back(words.data());
    check(words.shape(0));
    kept_.push_back(nb::cast(std::move(words)));
    valid_.push_back(nullptr);
    if (t[1].is_none()) continue;
    auto bytes = nb::cast<ByteColumn>(t[1]);
    check(bytes.shape(0));
    valid_.back() = bytes.data();
    kept_.push_back(nb::cast(std::move(bytes)));
  }
  if (words_.size() != expected)
    raise(PyExc_ValueError, "expected " + std::to_string(expected) + " columns, got " +
                                std::to_string(words_.size()));
}

NativeColumns::~NativeColumns() = default;

void NativeColumns::check(std::size_t n) const {
  if (n != size_)
    raise(PyExc_ValueError,
          "columns differ in length: " + std::to_string(size_) + " and " + std::to_string(n));
}

NativeResults::NativeResults(std::size_t rows, std::vector<std::size_t> widths)
    : rows_(rows), widths_(std::move(widths)) {
  for (const std::size_t width : widths_) {
    words_.push_back(sash::big_array<Word>(rows * width + 1));
    valid_.push_back(std::make_unique_for_overwrite<std::uint8_t[]>(rows + 1));
    nulls_.push_back(false);
  }
}

NativeResults::~NativeResults() = default;

namespace {

template <class T>
nb::object array(std::unique_ptr<T[]> data, std::size_t ndim, const std::size_t* shape) {
  T* raw = data.release();
  nb::capsule owner(raw, [](void* p) noexcept { delete[] static_cast<T*>(p); });
  return nb::cast(nb::ndarray<nb::numpy, T>(raw, ndim, shape, owner));
}

nb::object lower_one(const sash::Component& c, const OutSpec& out, const Word* s) {
  const std::size_t words = c.ops->out_words(c.params);
  Word small[16];
  std::vector<Word> more(words > 16 ? words : 0);
  Word* to = words > 16 ? more.data() : small;
  if (!c.ops->lower(s + c.offset, to, c.params)) return nb::none();
  if (out.code != 'B') return from_word(*to, out.code);
  return out.finish(nb::bytes(reinterpret_cast<const char*>(to), words * sizeof(Word)));
}

}  // namespace

nb::object NativeResults::take() {
  nb::list out;
  for (std::size_t c = 0; c < widths_.size(); ++c) {
    const std::size_t shape[2] = {rows_, widths_[c]};
    nb::object words = array(std::move(words_[c]), 2, shape);
    nb::object valid = nb::none();
    if (nulls_[c]) valid = array(std::move(valid_[c]), 1, shape);
    out.append(nb::make_tuple(words, valid));
  }
  return out;
}

nb::object Port<sash::Record>::lower(const sash::Record& m, const Word* s) const {
  const auto& components = m.layout().components();
  if (spec_->single) return lower_one(components[0], spec_->outs[0], s);
  nb::object all = nb::steal(PyTuple_New(static_cast<Py_ssize_t>(components.size())));
  for (std::size_t i = 0; i < components.size(); ++i)
    PyTuple_SET_ITEM(all.ptr(), i, lower_one(components[i], spec_->outs[i], s).release().ptr());
  return all;
}

}  // namespace sash_py
