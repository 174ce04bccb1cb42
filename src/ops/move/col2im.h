#pragma once
#include "types/attr.h"

namespace mica {

struct Col2Im {
  Ints strides, pads, dilations;
  template <class V>
  void visit(V&& v) {
    v("strides", strides, "step of the blocks per image axis; empty: 1");
    v("pads", pads, "zeros around the image that blocks may cover: all begins, then all ends; empty: 0");
    v("dilations", dilations, "step inside of a block per image axis; empty: 1");
  }
};

}  // namespace mica
