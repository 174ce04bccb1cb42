#include "ops/quant/quantize_linear.h"

#include "ops/quant/quant_run.h"

namespace mica {
namespace {

MICA_AT_BIND Result<bool> bind(BindScope& scope) {
  const auto& a = scope.attributes<QuantizeLinear>();
  if (scope.input(0).view.dtype != DType::kF32 || (a.precision != DType::kNone && a.precision != DType::kF32))
    return false;
  if (quant::has_epilogue_operands(scope)) return false;
  return quant::bind_linear(
      scope, {.function = TypedFunction::kQuantize, .from = DType::kF32, .to = scope.output(0).view.dtype}, a.axis,
      a.block);
}

}  // namespace

MICA_RUN(quantize_linear) = {.bind = bind};

}  // namespace mica
