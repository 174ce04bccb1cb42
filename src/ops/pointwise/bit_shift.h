#pragma once
#include "types/attr.h"

namespace mica {

struct BitShift {
  bool left = true;
  template <class V>
  void visit(V&& v) {
    v("left", left, "towards the high bits");
  }
};

}  // namespace mica
