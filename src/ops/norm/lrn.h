#pragma once
#include "types/attr.h"

namespace mica {

struct Lrn {
  int64_t size = 1;
  float alpha = 1e-4f, beta = 0.75f, bias = 1;
  template <class V>
  void visit(V&& v) {
    v("size", size, "channels in the window, the larger half behind");
    v("alpha", alpha, "factor of the mean square");
    v("beta", beta, "exponent");
    v("bias", bias, "added before the power");
  }
};

}  // namespace mica
