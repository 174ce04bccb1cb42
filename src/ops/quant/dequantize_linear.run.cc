#include "ops/quant/dequantize_linear.h"

#include "ops/quant/quant_run.h"

namespace mica {
namespace {

MICA_AT_BIND Result<bool> bind(BindScope& scope) {
  const auto& a = scope.attributes<DequantizeLinear>();
  if (scope.output(0).view.dtype != DType::kF32) return false;
  if (quant::has_epilogue_operands(scope)) return false;
  return quant::bind_linear(
      scope, {.function = TypedFunction::kDequantize, .from = scope.input(0).view.dtype, .to = DType::kF32}, a.axis,
      a.block);
}

}  // namespace

MICA_RUN(dequantize_linear) = {.bind = bind};

}  // namespace mica
