#pragma once
#include "types/attr.h"

namespace mica {

struct NonMaxSuppression {
  bool center = false;
  template <class V>
  void visit(V&& v) {
    v("center", center, "boxes are [x centre, y centre, width, height], else two opposite corners [y, x, y, x]");
  }
};

}  // namespace mica
