#pragma once
#include "types/attr.h"

namespace mica {

struct ArgReduce {
  int64_t axis = 0;
  bool smallest = false;
  bool keep_dims = true;
  bool last = false;
  template <class V>
  void visit(V&& v) {
    v("axis", axis, "axis searched");
    v("smallest", smallest, "the smallest element instead of the largest");
    v("keep_dims", keep_dims, "the axis stays, with size 1");
    v("last", last, "of equal elements the last one");
  }
};

}  // namespace mica
