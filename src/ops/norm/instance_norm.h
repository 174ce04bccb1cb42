#pragma once
#include "types/attr.h"

namespace mica {

// Inputs: x, scale and bias by channel.
struct InstanceNorm {
  float epsilon = 1e-5f;
  template <class V>
  void visit(V&& v) {
    v("epsilon", epsilon, "added to the variance");
  }
};

}  // namespace mica
