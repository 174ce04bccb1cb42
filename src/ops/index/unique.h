#pragma once
#include "types/attr.h"

namespace mica {

struct Unique {
  int64_t axis = 0;
  bool flat = true, sorted = true;
  template <class V>
  void visit(V&& v) {
    v("axis", axis, "the axis whose slices are compared");
    v("flat", flat, "compare the elements of the flattened input instead");
    v("sorted", sorted, "results in ascending order, else in the order of their first occurrence");
  }
};

}  // namespace mica
