#include "ops/move/eye_like.h"

#include "types/operand.h"

namespace mica {
namespace {

Status infer(InferScope& scope) {
  MICA_TRY_STATUS(require_rank(scope, 0, 2, 2));
  const DType dtype = scope.attributes<EyeLike>().dtype;
  scope.out(0, dtype == DType::kNone ? scope.dtype(0) : dtype, scope.shape(0));
  return {};
}

Status reference(RunScope& scope) {
  MICA_CHECK(scope.in(0).rank == 2, kBadRank, "eye_like needs a matrix, not rank {}", scope.in(0).rank);
  MICA_TRY_STATUS(scope.allocate_output(0, scope.in(0).shape()));
  const TensorView& out = scope.out(0);
  const Elements elements(out);
  const int64_t k = scope.attributes<EyeLike>().k, columns = out.dim(1), count = out.count();
  for (int64_t i = 0; i < count; ++i) {
    const bool one = i % columns - i / columns == k;
    if (is_integer(out.dtype) || out.dtype == DType::kBool)
      elements.set_integer(i, one);
    else
      elements.set_number(i, one ? 1.0 : 0.0);
  }
  return {};
}

}  // namespace

MICA_OP(eye_like) = {.name = "eye_like",
                     .doc = "A matrix of the input's shape with ones on one diagonal",
                     .attributes = attr_class<EyeLike>(),
                     .infer = infer,
                     .reference = reference};

}  // namespace mica
