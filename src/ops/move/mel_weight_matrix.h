#pragma once
#include "types/attr.h"

namespace mica {

struct MelWeightMatrix {
  DType dtype = DType::kF32;
  template <class V>
  void visit(V&& v) {
    v("dtype", dtype, "element type");
  }
};

}  // namespace mica
