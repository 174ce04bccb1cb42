#pragma once
#include <limits>

#include "types/attr.h"

namespace mica {

struct ShapeOf {
  int64_t start = 0;
  int64_t end = std::numeric_limits<int64_t>::max();
  template <class V>
  void visit(V&& v) {
    v("start", start, "first dimension to give; negative: from the end");
    v("end", end, "the dimension to stop before; negative: from the end");
  }
};

}  // namespace mica
