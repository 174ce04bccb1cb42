#pragma once
#include "types/attr.h"

namespace mica {

struct SplitToSequence {
  int64_t axis = 0;
  bool keepdims = true;
  template <class V>
  void visit(V&& v) {
    v("axis", axis, "the axis that is cut");
    v("keepdims", keepdims, "without sizes: items keep the axis, of one element");
  }
};

}  // namespace mica
