// What tests of kernels have in common: random numbers, and a word for the loops that say what is right.
#pragma once
#include <cstdint>
#include <random>
#include <vector>

// In front of a plain loop that a kernel is compared with. Sanitizers are to see the kernel, not the loop: with it
// instrumented, most of the time of such a build's tests goes there.
#ifdef __clang__
#define MICA_PLAIN_LOOP __attribute__((no_sanitize("address", "undefined", "coverage")))
#else
#define MICA_PLAIN_LOOP
#endif

namespace mica {

// Numbers in [-1, 1) of 24 bits, the same for the same seed. std::uniform_real_distribution takes two logarithms for
// each, which were a third of some tests' time.
class UniformFloats {
 public:
  explicit UniformFloats(unsigned seed) : random_(seed) {}
  float operator()() { return static_cast<float>(static_cast<int32_t>(random_() >> 8) - (1 << 23)) * 0x1p-23f; }
  void fill(std::vector<float>& to, int64_t size) {
    to.resize(static_cast<size_t>(size));
    for (float& number : to) number = (*this)();
  }

 private:
  std::mt19937 random_;
};

}  // namespace mica
