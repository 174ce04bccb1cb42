#pragma once
#include "types/attr.h"

namespace mica {

struct MaxRoiPool {
  Ints pooled_shape;
  float scale = 1;
  template <class V>
  void visit(V&& v) {
    v("pooled_shape", pooled_shape, "rows and columns of the result");
    v("scale", scale, "from the regions' coordinates to the input's");
  }
};

}  // namespace mica
