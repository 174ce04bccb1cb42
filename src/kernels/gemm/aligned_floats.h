// Memory of the benchmarks here.
#pragma once
#include <algorithm>
#include <cstdlib>
#include <memory>

namespace mica {

struct AlignedFloats {
  explicit AlignedFloats(size_t n)
      : p(static_cast<float*>(std::aligned_alloc(64, (n * 4 + 127) / 64 * 64)), std::free) {
    std::fill_n(p.get(), n, 0.01f);
  }
  float* data() const { return p.get(); }
  std::unique_ptr<float, void (*)(void*)> p;
};

}  // namespace mica
