// Attributes of deformable convolution.
#pragma once
#include "types/window.h"

namespace mica {

struct DeformConv {
  Ints strides, dilations, pads;
  int64_t groups = 1, offset_groups = 1;
  template <class V>
  void visit(V&& v) {
    v("strides", strides, "step per spatial axis; 1 when empty");
    v("dilations", dilations, "distance of the kernel's taps per spatial axis; 1 when empty");
    v("pads", pads, "zeros before each spatial axis, then after each; 0 when empty");
    v("groups", groups, "channels are split into so many independent convolutions");
    v("offset_groups", offset_groups, "input channels are split into so many groups with offsets of their own");
  }
  WindowSpec window() const { return {strides, dilations, pads}; }
};

}  // namespace mica
