// Numbers of which equal seeds give equal ones.
#pragma once
#include <cstddef>
#include <cstdint>

namespace mica::support {

// The sequence SplitMix64: no state to set up, unlike the standard's generators, for tests that take 100 microseconds.
class Random {
 public:
  explicit Random(uint64_t seed) : state_(seed) {}
  uint64_t operator()() {
    uint64_t z = state_ += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
  }

 private:
  uint64_t state_;
};

inline size_t below(size_t n, Random& random) { return n ? static_cast<size_t>(random() % n) : 0; }

}  // namespace mica::support
