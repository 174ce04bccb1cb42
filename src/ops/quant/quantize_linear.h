#pragma once
#include "types/attr.h"

namespace mica {

// Inputs: x, scales, zero points (optional).
struct QuantizeLinear {
  int64_t axis = 1;
  int64_t block = 0;
  DType dtype = DType::kNone;
  DType precision = DType::kNone;
  bool saturate = true;
  template <class V>
  void visit(V&& v) {
    v("axis", axis, "axis along which scales differ");
    v("block", block, "elements per scale along `axis`; 0: one scale per slice");
    v("dtype", dtype, "element type of the result; none: that of the zero points, or u8");
    v("precision", precision, "type in which x is divided by its scale; none: that of the scales");
    v("saturate", saturate, "float8 results: numbers beyond the largest become the largest");
  }
};

}  // namespace mica
