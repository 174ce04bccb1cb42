#pragma once
#include "types/attr.h"

namespace mica {

struct ReverseSequence {
  int64_t batch_axis = 1, time_axis = 0;
  template <class V>
  void visit(V&& v) {
    v("batch_axis", batch_axis, "the axis of independent sequences");
    v("time_axis", time_axis, "the axis whose first elements are reversed");
  }
};

}  // namespace mica
