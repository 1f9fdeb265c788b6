// Exact quantiles and ranks over rolling windows.
//
// The values of a block of rows are sorted once; a window is then the set of its values' ranks
// (rank_set.hpp), and each quantile a finger into that set, which moves one place when a value
// comes, goes, or the window grows. A block is a few windows long, so its ranks fit in a near cache
// and sorting costs little for each row. Any window costs about the same, whatever its size.
//
// Values come as words whose unsigned order is that of the values (ordered_key): NaN is greater than
// every number, and both zeros are equal.
#pragma once

#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include "sash/rolling/frames.hpp"
#include "sash/rolling/rank_set.hpp"
#include "sash/rolling/sort_rows.hpp"

namespace sash::rolling {

using Word = std::uint64_t;

inline Word ordered_key(double v) {
  if (v != v) return ~Word{0};
  if (v == 0) v = 0;  // not -0.0
  const Word w = std::bit_cast<Word>(v);
  return (w >> 63) != 0 ? ~w : w | (Word{1} << 63);
}
inline double key_to_double(Word k) {
  if (k == ~Word{0}) return std::numeric_limits<double>::quiet_NaN();
  return std::bit_cast<double>((k >> 63) != 0 ? k & ~(Word{1} << 63) : ~k);
}
inline Word ordered_key(std::int64_t v) { return static_cast<Word>(v) ^ (Word{1} << 63); }
inline std::int64_t key_to_int(Word k) { return static_cast<std::int64_t>(k ^ (Word{1} << 63)); }

enum class Between { linear, lower, higher, nearest, midpoint };  // a quantile that is between two
enum class Ties { average, min, max };

struct Question {
  bool rank;     // the rank of the row's own value, else a quantile
  double q = 0;  // which one
  Between between = Between::linear;
  Ties ties = Ties::average;
};

// The nearer of two places; of two that are equally near the even one, as NumPy has it.
inline std::size_t nearest_place(double h) { return static_cast<std::size_t>(std::nearbyint(h)); }

class OrderStatistics {
 public:
  // key(position) is the value's ordered key; there(position) tells whether it is not null.
  OrderStatistics(std::vector<Question> questions, bool integers)
      : questions_(std::move(questions)),
        fingers_(questions_.size()),
        integers_(integers),
        set_(wants_ranks(questions_)) {}

  // How many rows to sort at a time for windows of about n.
  static std::size_t block(std::size_t n) {
    return n < 50'000 ? std::max<std::size_t>(4096, 9 * n) : 4 * n;
  }

  // The set is empty, and the rows to come are those of positions [begin, end).
  template <class Key, class There>
  void prepare(std::size_t begin, std::size_t end, Key&& key, There&& there) {
    begin_ = begin;
    items_.clear();
    Poll poll;
    in_blocks(poll, end - begin, 1, [&](std::size_t i, std::size_t stop) {
      for (; i < stop; ++i)
        if (there(begin + i)) items_.push_back({key(begin + i), static_cast<std::uint32_t>(i)});
    });
    spare_.resize(items_.size());
    radix_sort(items_.data(), spare_.data(), items_.size(), items_.size() < 100'000 ? 8 : 11);
    rank_.assign(end - begin, kNull);
    in_blocks(poll, items_.size(), 1, [&](std::size_t r, std::size_t stop) {
      for (; r < stop; ++r) rank_[items_[r].row] = static_cast<std::uint32_t>(r);
    });
    if (wants_ranks(questions_)) find_ties();
    set_.reset(items_.size());
    for (Finger& f : fingers_) f = {};
    size_ = 0;
  }

  void add(std::size_t p) {
    const std::uint32_t r = rank_[p - begin_];
    if (r == kNull) return;
    set_.add(r);
    for (Finger& f : fingers_) {
      if (size_ == 0) f = {r, 0};
      else if (r < f.rank) ++f.below;
    }
    ++size_;
  }
  void remove(std::size_t p) {
    const std::uint32_t r = rank_[p - begin_];
    if (r == kNull) return;
    set_.remove(r);
    --size_;
    for (Finger& f : fingers_) {
      if (r < f.rank) {
        --f.below;
      } else if (r == f.rank && size_ != 0) {
        const std::size_t after = set_.next(r);
        if (after != RankSet::none) f.rank = after;
        else f = {set_.prev(r), f.below - 1};
      }
    }
  }

  // The answer to question q in the window of the row at `position`; false: null.
  bool answer(std::size_t q, std::size_t position, Word& out) {
    const Question& question = questions_[q];
    return question.rank ? rank(question, position, out) : quantile(question, fingers_[q], out);
  }

 private:
  struct Finger {
    std::size_t rank = 0, below = 0;  // a member, and how many members are below it
  };
  static constexpr std::uint32_t kNull = ~std::uint32_t{0};
  static bool wants_ranks(const std::vector<Question>& questions) {
    return std::any_of(questions.begin(), questions.end(),
                       [](const Question& q) { return q.rank; });
  }

  // Equal values have neighbouring ranks [first, last).
  void find_ties() {
    const std::size_t n = items_.size();
    first_.resize(n), last_.resize(n);
    for (std::size_t r = 0; r < n; ++r) {
      const bool tied = r > 0 && items_[r].key == items_[r - 1].key;
      first_[r] = tied ? first_[r - 1] : static_cast<std::uint32_t>(r);
    }
    for (std::size_t r = n; r-- > 0;) {
      const bool tied = r + 1 < n && first_[r + 1] == first_[r];
      last_[r] = tied ? last_[r + 1] : static_cast<std::uint32_t>(r + 1);
    }
  }

  void move(Finger& f, std::size_t place) const {
    for (; f.below < place; ++f.below) f.rank = set_.next(f.rank);
    for (; f.below > place; --f.below) f.rank = set_.prev(f.rank);
  }
  bool quantile(const Question& question, Finger& f, Word& out) const {
    if (size_ == 0) return false;
    const double h = question.q * static_cast<double>(size_ - 1);
    const auto low = static_cast<std::size_t>(h);
    const double part = h - static_cast<double>(low);
    switch (question.between) {
      case Between::lower:
        return move(f, low), exactly(f.rank, out);
      case Between::higher:
        return move(f, low + (part > 0)), exactly(f.rank, out);
      case Between::nearest:
        return move(f, nearest_place(h)), exactly(f.rank, out);
      default:
        break;
    }
    move(f, low);
    double value = number(f.rank);
    if (part > 0) {
      const double above = number(set_.next(f.rank));
      const double weight = question.between == Between::midpoint ? 0.5 : part;
      if (const double step = above - value; above == value) return put(value, out);
      else if (std::isfinite(step)) value += step * weight;
      else value = value * (1 - weight) + above * weight;  // too far apart for a difference
    }
    return put(value, out);
  }
  static bool put(double value, Word& out) {
    std::memcpy(&out, &value, sizeof out);
    return true;
  }
  bool rank(const Question& question, std::size_t position, Word& out) const {
    const std::uint32_t r = rank_[position - begin_];
    if (r == kNull) return false;
    const std::size_t first = first_[r], last = last_[r];
    const double below = static_cast<double>(set_.below(first));
    const double upto = static_cast<double>(set_.below(last));
    const double value = question.ties == Ties::min   ? below + 1
                         : question.ties == Ties::max ? upto
                                                      : (below + 1 + upto) / 2;
    return put(value, out);
  }
  double number(std::size_t rank) const {
    const Word key = items_[rank].key;
    return integers_ ? static_cast<double>(key_to_int(key)) : key_to_double(key);
  }
  bool exactly(std::size_t rank, Word& out) const {
    const Word key = items_[rank].key;
    out = integers_ ? static_cast<Word>(key_to_int(key)) : std::bit_cast<Word>(key_to_double(key));
    return true;
  }

  std::vector<Question> questions_;
  std::vector<Finger> fingers_;
  bool integers_;
  RankSet set_;
  std::vector<Keyed> items_, spare_;
  std::vector<std::uint32_t> rank_;          // of each position of the block
  std::vector<std::uint32_t> first_, last_;  // of each rank's ties
  std::size_t begin_ = 0, size_ = 0;
};

}  // namespace sash::rolling
