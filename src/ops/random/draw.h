// Attributes of the operators that draw by given probabilities.
#pragma once
#include "types/attr.h"

namespace mica {

struct Draw {
  DType dtype = DType::kNone;
  int64_t samples = 1;
  int64_t seed = 0;
  template <class V>
  void visit(V&& v) {
    v("dtype", dtype, "element type of the result; none: that of the input");
    v("samples", samples, "draws per row (multinomial)");
    v("seed", seed, "decides the numbers");
  }
};

}  // namespace mica
