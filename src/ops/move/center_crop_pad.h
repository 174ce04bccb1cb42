#pragma once
#include "types/attr.h"

namespace mica {

struct CenterCropPad {
  Ints axes;
  template <class V>
  void visit(V&& v) {
    v("axes", axes, "the axes that the shape is for; empty: all");
  }
};

}  // namespace mica
