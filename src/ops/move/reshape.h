#pragma once
#include "types/attr.h"

namespace mica {

struct Reshape {
  bool allow_zero = false;
  template <class V>
  void visit(V&& v) {
    v("allow_zero", allow_zero, "a 0 in the shape is a dimension of 0, not the input's");
  }
};

}  // namespace mica
