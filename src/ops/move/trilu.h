#pragma once
#include "types/attr.h"

namespace mica {

struct Trilu {
  bool upper = true;
  template <class V>
  void visit(V&& v) {
    v("upper", upper, "keep the upper triangle, else the lower");
  }
};

}  // namespace mica
