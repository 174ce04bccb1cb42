#pragma once
#include "types/attr.h"

namespace mica {

struct SequenceMap {
  int64_t operands = 1;
  template <class V>
  void visit(V&& v) {
    v("operands", operands, "how many inputs the region's own come from; the rest are captures");
  }
};

}  // namespace mica
