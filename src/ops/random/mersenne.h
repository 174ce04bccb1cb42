// Random numbers that a seed decides alone: MT19937 (Matsumoto, Nishimura 1998) as NumPy's legacy generator draws from
// it, because the ONNX standard's own examples of seeded operators are made with that.
#pragma once
#include <cmath>
#include <cstdint>
#include <string_view>

#include "base/hash.h"

namespace mica::random {

class Mersenne {
 public:
  explicit Mersenne(uint64_t seed) {
    state_[0] = static_cast<uint32_t>(seed);
    for (uint32_t i = 1; i < kSize; ++i) state_[i] = 1812433253u * (state_[i - 1] ^ (state_[i - 1] >> 30)) + i;
  }
  uint32_t next() {
    if (at_ == kSize) refill();
    uint32_t y = state_[at_++];
    y ^= y >> 11;
    y ^= (y << 7) & 0x9d2c5680u;
    y ^= (y << 15) & 0xefc60000u;
    return y ^ (y >> 18);
  }
  // In [0, 1), 53 bits.
  double uniform() {
    const double high = next() >> 5, low = next() >> 6;
    return (high * 67108864.0 + low) / 9007199254740992.0;
  }
  // Mean 0, deviation 1: the polar method (Marsaglia 1964), which makes two at a time.
  double normal() {
    if (has_second_) {
      has_second_ = false;
      return second_;
    }
    double x, y, square;
    do {
      x = 2 * uniform() - 1;
      y = 2 * uniform() - 1;
      square = x * x + y * y;
    } while (square >= 1 || square == 0);
    const double factor = std::sqrt(-2 * std::log(square) / square);
    second_ = factor * x;
    has_second_ = true;
    return factor * y;
  }

 private:
  static constexpr uint32_t kSize = 624, kShift = 397;
  void refill() {
    for (uint32_t i = 0; i < kSize; ++i) {
      const uint32_t next = i + 1 < kSize ? i + 1 : 0, far = i < kSize - kShift ? i + kShift : i + kShift - kSize;
      const uint32_t y = (state_[i] & 0x80000000u) | (state_[next] & 0x7fffffffu);
      state_[i] = state_[far] ^ (y >> 1) ^ (0x9908b0dfu & (0 - (y & 1)));
    }
    at_ = 0;
  }
  uint32_t state_[kSize];
  uint32_t at_ = kSize;
  double second_ = 0;
  bool has_second_ = false;
};

// The seed of a node that states none: a hash of its name, so that two nodes of a model differ and a run can be
// repeated.
inline int64_t seed_of(std::string_view name) { return static_cast<uint32_t>(hash_text(name)); }

}  // namespace mica::random
