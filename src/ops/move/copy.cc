#include "types/operand.h"

namespace mica {
namespace {

Status reference(RunScope& scope) {
  MICA_TRY_STATUS(scope.allocate_output(0, scope.in(0).shape()));
  MICA_TRY(const TensorView from, wide_input(scope, 0));
  MICA_TRY(const TensorView to, wide_output(scope, 0));
  copy_elements(from, to);
  finish_output(scope, 0, to);
  return {};
}

}  // namespace

MICA_OP(copy) = {.name = "copy",
                 .doc = "The same tensor in the output's physical order",
                 .infer = infer_same,
                 .reference = reference,
                 .flops = [](const CostScope&) -> int64_t { return 0; },
                 .dim_rule = DimRule::kMove};

}  // namespace mica
