#pragma once
#include "types/attr.h"

namespace mica {

struct Dropout {
  int64_t seed = 0;
  template <class V>
  void visit(V&& v) {
    v("seed", seed, "decides which elements are dropped");
  }
};

}  // namespace mica
