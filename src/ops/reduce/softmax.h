#pragma once
#include "types/attr.h"

namespace mica {

// Of softmax, log_softmax and hardmax.
struct Softmax {
  int64_t axis = -1;
  bool to_end = false;
  bool zero_nan = false;
  template <class V>
  void visit(V&& v) {
    v("axis", axis, "axis along which results sum to 1");
    v("to_end", to_end, "over all axes from `axis` on instead of one");
    v("zero_nan", zero_nan, "of softmax: where the results would be NaN, which are all of those that sum to 1, zeros");
  }
};

}  // namespace mica
