// Outcomes: lowered aggregates, one row each, as they are told to users.
//
// Native ones are machine words: flags (a bit for each result that is not null), then the results.
// For Python objects see bindings/outcomes.hpp.
#pragma once

#include <cstring>
#include <vector>

#include "sash/record.hpp"
#include "sash/slicing/scratch.hpp"
#include "sash/small.hpp"

namespace sash::slicing {

template <Monoid M>
class Outcomes;

template <Monoid M>
class WordOutcomes {
 public:
  explicit WordOutcomes(const M& m) : m_(m) {
    if constexpr (requires { m.layout(); }) {
      for (const Component& c : m.layout().components())
        widths_.push_back(c.ops->out_words(c.params));
    } else {
      widths_.push_back(1);
    }
    flags_ = (widths_.size() + 63) / 64;
    stride_ = flags_;
    for (const std::size_t w : widths_) stride_ += w;
  }
  // None yet, of the same kind.
  const M& like() const { return m_; }
  std::size_t size() const { return words_.size() / stride_; }
  const std::vector<std::size_t>& widths() const { return widths_; }
  Word* row(std::size_t i) { return words_.data() + i * stride_; }
  const Word* row(std::size_t i) const { return words_.data() + i * stride_; }
  const Word* results(std::size_t i) const { return row(i) + flags_; }
  bool there(std::size_t i, std::size_t c) const { return (row(i)[c / 64] >> (c % 64)) & 1; }
  std::size_t stride() const { return stride_; }

  void push(const typename M::Cell* state) {
    words_.resize(words_.size() + stride_);
    Word* to = row(size() - 1);
    if constexpr (requires { m_.layout(); }) {
      Word* out = to + flags_;
      std::size_t c = 0;
      for (const Component& part : m_.layout().components()) {
        const bool there = part.ops->lower(state + part.offset, out, part.params);
        if (!there) std::fill_n(out, widths_[c], 0);
        to[c / 64] |= static_cast<Word>(there) << (c % 64);
        out += widths_[c++];
      }
    } else if constexpr (requires { m_.lower(state, to); }) {
      to[0] = m_.lower(state, to + 1);
      if (to[0] == 0) to[1] = 0;
    } else {
      decltype(out_of(m_.s)) out{};
      to[0] = m_.s.lower(*state, out);
      if (to[0] != 0) std::memcpy(to + 1, &out, sizeof out);
    }
  }
  void push_copy(const WordOutcomes& o, std::size_t i) {
    words_.insert(words_.end(), o.row(i), o.row(i) + stride_);
  }
  void insert_copy(std::size_t at, const WordOutcomes& o, std::size_t i) {
    words_.insert(words_.begin() + static_cast<std::ptrdiff_t>(at * stride_), o.row(i),
                  o.row(i) + stride_);
  }
  void set_copy(std::size_t at, const WordOutcomes& o, std::size_t i) {
    std::copy_n(o.row(i), stride_, row(at));
  }
  void pop() { words_.resize(words_.size() - stride_); }
  void drop_front(std::size_t n) {
    words_.erase(words_.begin(), words_.begin() + static_cast<std::ptrdiff_t>(n * stride_));
    give_back(words_);
  }
  void clear() { drain(words_); }
  bool same(std::size_t i, const WordOutcomes& o, std::size_t j) const {
    return std::equal(row(i), row(i) + stride_, o.row(j));
  }
  std::size_t bytes() const { return words_.capacity() * sizeof(Word); }

 private:
  template <class S>
  static typename S::Out out_of(const S&);
  M m_;
  std::vector<std::size_t> widths_;
  std::size_t flags_, stride_;
  std::vector<Word> words_;
};

template <class S>
class Outcomes<Scalar<S>> : public WordOutcomes<Scalar<S>> {
  using WordOutcomes<Scalar<S>>::WordOutcomes;
};
template <std::size_t Words>
class Outcomes<Small<Words>> : public WordOutcomes<Small<Words>> {
  using WordOutcomes<Small<Words>>::WordOutcomes;
};
template <>
class Outcomes<Record> : public WordOutcomes<Record> {
  using WordOutcomes<Record>::WordOutcomes;
};

}  // namespace sash::slicing
