// Attributes of the general matrix product.
#pragma once
#include "types/attr.h"

namespace mica {

struct Gemm {
  float alpha = 1, beta = 1;
  bool transpose_a = false, transpose_b = false;
  template <class V>
  void visit(V&& v) {
    v("alpha", alpha, "factor of the product");
    v("beta", beta, "factor of the summand");
    v("transpose_a", transpose_a, "the first matrix is given as its transpose");
    v("transpose_b", transpose_b, "the second matrix is given as its transpose");
  }
};

}  // namespace mica
