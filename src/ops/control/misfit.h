#pragma once
#include "types/attr.h"

namespace mica {

struct Misfit {
  DType dtype = DType::kF32;
  bool ranked = true;
  Ints shape;
  Name reason;
  template <class V>
  void visit(V&& v) {
    v("dtype", dtype, "of the result that never comes");
    v("ranked", ranked, "whether `shape` is known");
    v("shape", shape, "of the result that never comes; -1: any length");
    v("reason", reason, "why the branch cannot run");
  }
};

}  // namespace mica
