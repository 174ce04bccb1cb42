#include "types/operand.h"

namespace mica {
namespace {

Status infer(InferScope& scope) {
  const Shape& in = scope.shape(0);
  scope.out(0, DType::kI64, Shape::of_rank(0));
  if (!in.known()) return {};
  const Dim count = scope.dims().product(in.span());
  return scope.set_values(0, std::span(&count, 1));
}

Status reference(RunScope& scope) {
  MICA_TRY_STATUS(scope.allocate_output(0, {}));
  Elements(scope.out(0)).set_integer(0, scope.in(0).count());
  return {};
}

}  // namespace

MICA_OP(size) = {.name = "size",
                 .doc = "The number of elements",
                 .infer = infer,
                 .reference = reference,
                 .flops = [](const CostScope&) -> int64_t { return 0; },
                 .layout = LayoutRule::kAny};

}  // namespace mica
