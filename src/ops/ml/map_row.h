#pragma once
#include "types/attr.h"

namespace mica {

struct MapRow {
  int64_t size = -1;
  bool text = false;
  template <class V>
  void visit(V&& v) {
    v("size", size, "length of the row, in which each value stands at the place that its key says; -1: by rising key");
    v("text", text, "numbers as texts with six decimals");
  }
};

}  // namespace mica
