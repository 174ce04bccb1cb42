#pragma once
#include "types/attr.h"

namespace mica {

struct Loop {
  int64_t carried = 0;
  template <class V>
  void visit(V&& v) {
    v("carried", carried, "how many values go from one turn to the next");
  }
};

}  // namespace mica
