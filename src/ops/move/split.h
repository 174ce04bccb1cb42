#pragma once
#include "types/attr.h"

namespace mica {

struct Split {
  int64_t axis = 0;
  int64_t parts = 0;
  template <class V>
  void visit(V&& v) {
    v("axis", axis, "the axis that is cut");
    v("parts", parts, "how many outputs; without sizes they are equal, the last one perhaps smaller");
  }
};

}  // namespace mica
