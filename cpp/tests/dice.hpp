// Where the choices of a trial come from: a seed, without end, or bytes that a fuzzer has found.
#pragma once

#include <cstddef>
#include <cstdint>

namespace sash::trials {

class Dice {
 public:
  explicit Dice(std::uint64_t seed) : state_(seed), endless_(true) {}
  Dice(const std::uint8_t* bytes, std::size_t n) : bytes_(bytes), left_(n) {}

  // False when the bytes are used up; all that follows is 0.
  bool more() const { return endless_ || left_ != 0; }

  // A number in [0, n). Of bytes as few as will do, so that a changed byte changes one choice.
  std::uint64_t below(std::uint64_t n) {
    if (endless_) return next() % n;
    std::uint64_t value = 0;
    for (std::uint64_t most = n - 1; most != 0; most >>= 8) value = value << 8 | byte();
    return value % n;
  }
  bool one_in(std::uint64_t n) { return below(n) == 0; }
  std::int64_t between(std::int64_t low, std::int64_t high) {
    return low + static_cast<std::int64_t>(below(static_cast<std::uint64_t>(high - low) + 1));
  }
  // Endless choices that hang on one choice of these: a bulk costs two bytes, however long it is.
  Dice burst() { return Dice(below(1 << 16)); }

 private:
  std::uint8_t byte() {
    if (left_ == 0) return 0;
    --left_;
    return *bytes_++;
  }
  std::uint64_t next() {  // splitmix64
    std::uint64_t x = state_ += 0x9e3779b97f4a7c15;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
    x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
    return x ^ (x >> 31);
  }

  const std::uint8_t* bytes_ = nullptr;
  std::size_t left_ = 0;
  std::uint64_t state_ = 0;
  bool endless_ = false;
};

}  // namespace sash::trials
