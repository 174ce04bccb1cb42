#pragma once
#include "types/attr.h"

namespace mica {

// Inputs: x, scale, bias.
struct GroupNorm {
  int64_t groups = 1;
  float epsilon = 1e-5f;
  bool per_group = false;
  template <class V>
  void visit(V&& v) {
    v("groups", groups, "how many runs of channels are normalised each on its own");
    v("epsilon", epsilon, "added to the variance");
    v("per_group", per_group, "scale and bias have a number per group instead of per channel");
  }
};

}  // namespace mica
