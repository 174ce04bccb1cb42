#pragma once
#include "types/attr.h"

namespace mica {

struct IsInf {
  bool negative = true, positive = true;
  template <class V>
  void visit(V&& v) {
    v("negative", negative, "negative infinity counts");
    v("positive", positive, "positive infinity counts");
  }
};

}  // namespace mica
