#include "ops/quant/dequantize_linear.h"

#include "ops/quant/scales.h"

namespace mica {
namespace {

Status infer(InferScope& scope) {
  const auto& a = scope.attributes<DequantizeLinear>();
  MICA_TRY_STATUS(quant::infer_scales(scope, {a.axis, a.block}, 2));
  MICA_CHECK(scope.dtype(0) != DType::kString, kBadType, "input 0 must be a tensor of numbers");
  if (scope.has(2)) MICA_TRY_STATUS(require_same_dtype(scope, 0, 2));
  const DType dtype = a.dtype == DType::kNone ? scope.dtype(1) : a.dtype;
  MICA_CHECK(is_float(dtype), kBadType, "the result must have a floating-point type, not {}", name_of(dtype));
  scope.out(0, dtype, scope.shape(0));
  return {};
}

Status reference(RunScope& scope) {
  const auto& a = scope.attributes<DequantizeLinear>();
  const TensorView& x = scope.in(0);
  MICA_TRY_STATUS(scope.allocate_output(0, x.shape()));
  if (x.empty()) return {};
  const quant::ScaleIndex scale_index(x, scope.in(1), {a.axis, a.block});
  const Elements in(x), scales(scope.in(1)), zeros(scope.has(2) ? scope.in(2) : scope.in(1)), out(scope.out(0));
  int64_t index[kMaxRank] = {};
  do {
    const int64_t s = scale_index.of(index);
    const double zero = scope.has(2) ? zeros.number(s) : 0;
    out.set_number_at(index, (in.number_at(index) - zero) * scales.number(s));
  } while (next_index(index, x.shape()));
  return {};
}

}  // namespace

MICA_OP(dequantize_linear) = {.name = "dequantize_linear",
                              .doc = "(x - zero point) * scale",
                              .inputs = {2, 3},
                              .attributes = attr_class<DequantizeLinear>(),
                              .infer = infer,
                              .reference = reference,
                              .layout = LayoutRule::kAny};

}  // namespace mica
