// Memory of the benchmarks here: in huge pages, as a model's weights are.
#pragma once
#include <algorithm>

#include "base/os.h"

namespace mica {

struct AlignedFloats {
  explicit AlignedFloats(size_t n) : bytes(n * sizeof(float) + 64), p(static_cast<float*>(map_memory(bytes, true))) {
    std::fill_n(p, n, 0.01f);
  }
  AlignedFloats(const AlignedFloats&) = delete;
  AlignedFloats& operator=(const AlignedFloats&) = delete;
  ~AlignedFloats() { unmap_memory(p, bytes); }
  float* data() const { return p; }
  size_t bytes;
  float* p;
};

}  // namespace mica
