#pragma once
#include "types/attr.h"

namespace mica {

// Inputs: x, axis (a scalar or one element).
struct Cumulate {
  bool product = false;
  bool exclusive = false;
  bool reverse = false;
  template <class V>
  void visit(V&& v) {
    v("product", product, "running products instead of sums");
    v("exclusive", exclusive, "an element's own number is left out");
    v("reverse", reverse, "from the end of the axis to its start");
  }
};

}  // namespace mica
