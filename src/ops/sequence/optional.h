#pragma once
#include "types/attr.h"

namespace mica {

struct Optional {
  DType dtype = DType::kNone;
  bool sequence = false;
  template <class V>
  void visit(V&& v) {
    v("dtype", dtype, "element type of what an empty optional would hold");
    v("sequence", sequence, "an empty optional would hold a sequence");
  }
};

}  // namespace mica
