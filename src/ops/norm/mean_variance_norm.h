#pragma once
#include "types/attr.h"

namespace mica {

struct MeanVarianceNorm {
  Ints axes = {0, 2, 3};
  template <class V>
  void visit(V&& v) {
    v("axes", axes, "axes that are normalised together");
  }
};

}  // namespace mica
