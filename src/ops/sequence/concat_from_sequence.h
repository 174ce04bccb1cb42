#pragma once
#include "types/attr.h"

namespace mica {

struct ConcatFromSequence {
  int64_t axis = 0;
  bool new_axis = false;
  template <class V>
  void visit(V&& v) {
    v("axis", axis, "the axis that grows");
    v("new_axis", new_axis, "the items are stacked along an axis of their own");
  }
};

}  // namespace mica
