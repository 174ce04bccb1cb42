#pragma once
#include "types/attr.h"

namespace mica {

struct EyeLike {
  DType dtype = DType::kNone;
  int64_t k = 0;
  template <class V>
  void visit(V&& v) {
    v("dtype", dtype, "element type; none: the input's");
    v("k", k, "which diagonal holds the ones: above the main one when positive");
  }
};

}  // namespace mica
