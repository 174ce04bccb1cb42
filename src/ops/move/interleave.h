#pragma once
#include "types/attr.h"

namespace mica {

struct Interleave {
  int64_t axis = 1;
  template <class V>
  void visit(V&& v) {
    v("axis", axis, "the axis along which the inputs take turns");
  }
};

}  // namespace mica
