#pragma once
#include "types/attr.h"

namespace mica {

struct Concat {
  int64_t axis = 0;
  template <class V>
  void visit(V&& v) {
    v("axis", axis, "the axis that grows");
  }
};

}  // namespace mica
