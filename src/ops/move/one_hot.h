#pragma once
#include "types/attr.h"

namespace mica {

struct OneHot {
  int64_t axis = -1;
  template <class V>
  void visit(V&& v) {
    v("axis", axis, "where the new axis stands in the result");
  }
};

}  // namespace mica
