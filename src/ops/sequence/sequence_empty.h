#pragma once
#include "types/attr.h"

namespace mica {

struct SequenceEmpty {
  DType dtype = DType::kF32;
  template <class V>
  void visit(V&& v) {
    v("dtype", dtype, "element type of the tensors to come");
  }
};

}  // namespace mica
