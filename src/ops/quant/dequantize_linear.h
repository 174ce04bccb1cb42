#pragma once
#include "types/attr.h"

namespace mica {

// Inputs: x, scales, zero points (optional).
struct DequantizeLinear {
  int64_t axis = 1;
  int64_t block = 0;
  DType dtype = DType::kNone;
  template <class V>
  void visit(V&& v) {
    v("axis", axis, "axis along which scales differ");
    v("block", block, "elements per scale along `axis`; 0: one scale per slice");
    v("dtype", dtype, "element type of the result; none: that of the scales");
  }
};

}  // namespace mica
