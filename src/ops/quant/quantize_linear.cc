#include "ops/quant/quantize_linear.h"

#include <cmath>

#include "base/half.h"
#include "ops/quant/scales.h"

namespace mica {
namespace {

DType result_type(const QuantizeLinear& a, bool has_zero, DType zero) {
  if (a.dtype != DType::kNone) return a.dtype;
  return has_zero ? zero : DType::kU8;
}

Status infer(InferScope& scope) {
  const auto& a = scope.attributes<QuantizeLinear>();
  MICA_TRY_STATUS(quant::infer_scales(scope, {a.axis, a.block}, 2));
  const DType dtype = result_type(a, scope.has(2), scope.has(2) ? scope.dtype(2) : DType::kNone);
  MICA_CHECK(!scope.has(2) || dtype == scope.dtype(2), kBadType, "zero points are {}, the result is to be {}",
             name_of(scope.dtype(2)), name_of(dtype));
  const bool narrow = (is_integer(dtype) && bits_of(dtype) <= 32) || (is_float(dtype) && bits_of(dtype) <= 8);
  MICA_CHECK(narrow, kBadType, "cannot quantize to {}", name_of(dtype));
  scope.out(0, dtype, scope.shape(0));
  return {};
}

// x / scale as the type `precision` has it.
double quotient(double x, double scale, DType precision) {
  double rounded = 0;
  store_number(precision, &rounded, x / scale);
  return load_number(precision, &rounded);
}

struct Range {
  double low, high;
};
Range range_of(DType dtype) {
  const int bits = bits_of(dtype);
  if (kind_of(dtype) == NumberKind::kUnsigned) return {0, std::ldexp(1, bits) - 1};
  return {-std::ldexp(1, bits - 1), std::ldexp(1, bits - 1) - 1};
}

SmallFloat small_kind(DType dtype) {
  switch (dtype) {
    case DType::kF8E4m3fnuz: return SmallFloat::kE4m3FnUz;
    case DType::kF8E5m2: return SmallFloat::kE5m2;
    case DType::kF8E5m2fnuz: return SmallFloat::kE5m2FnUz;
    case DType::kF8E8m0: return SmallFloat::kE8m0;
    case DType::kF4E2m1: return SmallFloat::kE2m1;
    default: return SmallFloat::kE4m3Fn;
  }
}

Status reference(RunScope& scope) {
  const auto& a = scope.attributes<QuantizeLinear>();
  const TensorView &x = scope.in(0), &scale_view = scope.in(1);
  MICA_TRY_STATUS(scope.allocate_output(0, x.shape()));
  if (x.empty()) return {};
  const DType by_scale = is_float(scale_view.dtype) ? scale_view.dtype : DType::kF32;
  const DType dtype = scope.out(0).dtype, precision = a.precision == DType::kNone ? by_scale : a.precision;
  const quant::ScaleIndex scale_index(x, scale_view, {a.axis, a.block});
  const Elements in(x), scales(scale_view), zeros(scope.has(2) ? scope.in(2) : scale_view), out(scope.out(0));
  const Range range = is_integer(dtype) ? range_of(dtype) : Range{};
  int64_t index[kMaxRank] = {};
  do {
    const int64_t s = scale_index.of(index);
    const double zero = scope.has(2) ? zeros.number(s) : 0;
    const double value = quotient(in.number_at(index), scales.number(s), precision);
    if (is_integer(dtype)) {
      // NaN becomes the lower end, as a comparison of clamping instructions has it.
      const double whole = std::nearbyint(value) + zero;
      out.set_integer_at(index, static_cast<int64_t>(whole > range.low ? std::fmin(whole, range.high) : range.low));
    } else if (is_sub_byte(dtype)) {
      out.set_number_at(index, value + zero);
    } else {
      *reinterpret_cast<uint8_t*>(out.address_at(index)) = to_small_float(small_kind(dtype), value + zero, a.saturate);
    }
  } while (next_index(index, x.shape()));
  return {};
}

}  // namespace

MICA_OP(quantize_linear) = {.name = "quantize_linear",
                            .doc = "x / scale rounded to nearest even, plus the zero point, saturated",
                            .inputs = {2, 3},
                            .attributes = attr_class<QuantizeLinear>(),
                            .infer = infer,
                            .reference = reference,
                            .layout = LayoutRule::kAny};

}  // namespace mica
