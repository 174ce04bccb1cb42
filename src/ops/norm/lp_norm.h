#pragma once
#include "types/attr.h"

namespace mica {

struct LpNorm {
  int64_t axis = -1;
  int64_t p = 2;
  template <class V>
  void visit(V&& v) {
    v("axis", axis, "axis whose vectors get length 1");
    v("p", p, "length is the sum of magnitudes (1) or the root of the sum of squares (2)");
  }
};

}  // namespace mica
