#pragma once
#include "types/attr.h"

namespace mica {

struct BitCast {
  DType to = DType::kF32;
  template <class V>
  void visit(V&& v) {
    v("to", to, "element type of the result, as wide as the input's");
  }
};

}  // namespace mica
