// Attributes of causal depthwise convolution with a state.
#pragma once
#include "types/attr.h"

namespace mica {

struct CausalConv {
  bool silu = false;
  template <class V>
  void visit(V&& v) {
    v("silu", silu, "results x become x * sigmoid(x)");
  }
};

}  // namespace mica
