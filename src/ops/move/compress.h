#pragma once
#include "types/attr.h"

namespace mica {

struct Compress {
  int64_t axis = 0;
  bool flat = false;
  template <class V>
  void visit(V&& v) {
    v("axis", axis, "the axis to select along");
    v("flat", flat, "select from the flattened input instead");
  }
};

}  // namespace mica
