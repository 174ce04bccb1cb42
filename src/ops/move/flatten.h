#pragma once
#include "types/attr.h"

namespace mica {

struct Flatten {
  int64_t axis = 1;
  template <class V>
  void visit(V&& v) {
    v("axis", axis, "the first axis of the columns");
  }
};

}  // namespace mica
