#pragma once
#include "kernels/conv/conv.h"
#include "ops/conv/conv.h"

namespace mica {

// The convolution's own fields stand first.
struct PixelConv {
  Conv conv;
  Floats scale, shift;
  template <class V>
  void visit(V&& v) {
    conv.visit(v);
    v("scale", scale, "what each channel's pixels are multiplied by");
    v("shift", shift, "what is added to each channel's products");
  }
};

}  // namespace mica
