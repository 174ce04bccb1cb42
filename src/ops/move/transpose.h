#pragma once
#include "types/attr.h"

namespace mica {

struct Transpose {
  Ints perm;  // empty: the axes reversed
  template <class V>
  void visit(V&& v) {
    v("perm", perm, "axis i of the result is axis perm[i] of the input; empty reverses them");
  }
};

// `perm` for a tensor of `rank`, checked to be a permutation.
Result<Ints> axis_order(const Transpose& attributes, int rank);

}  // namespace mica
