#pragma once
#include "types/attr.h"

namespace mica {

struct TensorScatter {
  int64_t axis = -2;
  bool circular = false;
  template <class V>
  void visit(V&& v) {
    v("axis", axis, "the sequence axis");
    v("circular", circular, "write positions wrap around");
  }
};

}  // namespace mica
