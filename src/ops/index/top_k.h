#pragma once
#include "types/attr.h"

namespace mica {

struct TopK {
  int64_t axis = -1;
  bool largest = true, sorted = true;
  template <class V>
  void visit(V&& v) {
    v("axis", axis, "the axis to search along");
    v("largest", largest, "the largest elements, else the smallest");
    v("sorted", sorted, "whether the order of the results matters");
  }
};

}  // namespace mica
