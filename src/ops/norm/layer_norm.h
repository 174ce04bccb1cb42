#pragma once
#include "types/attr.h"

namespace mica {

// Of layer_norm (inputs x, scale, bias; outputs y, mean, 1 / deviation) and rms_norm (inputs x, scale; output y).
struct LayerNorm {
  int64_t axis = -1;
  float epsilon = 1e-5f;
  DType statistics = DType::kF32;
  template <class V>
  void visit(V&& v) {
    v("axis", axis, "first of the axes that are normalised together");
    v("epsilon", epsilon, "added to the variance");
    v("statistics", statistics, "element type of the outputs 1 and 2");
  }
};

}  // namespace mica
