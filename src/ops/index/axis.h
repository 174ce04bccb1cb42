#pragma once
#include "types/operand.h"

namespace mica {

// Attributes of operators that index along one axis.
struct IndexAxis {
  int64_t axis = 0;
  template <class V>
  void visit(V&& v) {
    v("axis", axis, "the axis that is indexed");
  }
};

inline Status require_indices(const InferScope& scope, int input) {
  const DType dtype = scope.dtype(input);
  MICA_CHECK(dtype == DType::kI64 || dtype == DType::kI32, kBadType, "indices must be i32 or i64, not {}",
             name_of(dtype));
  return {};
}

}  // namespace mica
