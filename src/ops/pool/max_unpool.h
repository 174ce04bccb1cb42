// Attributes of the inverse of maximum pooling.
#pragma once
#include "types/attr.h"

namespace mica {

struct MaxUnpool {
  Ints kernel, strides, pads;
  template <class V>
  void visit(V&& v) {
    v("kernel", kernel, "the window's size per spatial axis");
    v("strides", strides, "step per spatial axis; 1 when empty");
    v("pads", pads, "padding before each spatial axis, then after each; 0 when empty");
  }
};

}  // namespace mica
