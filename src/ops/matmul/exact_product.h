// Matrix products of 8-bit integers on the fp32 kernels. Where, for every column, Σ |b - b_zero| · max |a - a_zero|
// stays within 2^24, all partial sums are integers that fp32 holds exactly, whatever the order of summation. Larger
// sums are left to the reference.
#pragma once
#include <cmath>

#include "ops/matmul/product_step.h"
#include "step/quantized.h"
#include "types/requantize.h"

namespace mica::matmul {

// Which operands of the stage are what; zero points -1: none.
struct ExactOperands {
  int a = 0, a_zero = -1, b = 1, b_zero = -1;
};

// A dense tensor's rows as an image of one line of pixels, whose channels are the columns.
inline TensorView as_image(const TensorView& t, int64_t rows, int64_t columns) {
  const int64_t bytes = element_bytes(t.dtype);
  TensorView v = t;
  v.rank = 4;
  v.dims = {1, columns, 1, rows};
  v.strides = {rows * columns * bytes, bytes, rows * columns * bytes, columns * bytes};
  return v;
}

struct ExactPacking {
  int64_t k, n, zero;
};
inline void pack_exact(const TensorView& plain, void* to, const void* context) {
  const auto& p = *static_cast<const ExactPacking*>(context);
  const Elements elements(plain);
  float* at = static_cast<float*>(to);
  for (int64_t panel = 0; panel < panel_count(p.n); ++panel)
    for (int64_t k = 0; k < p.k; ++k)
      for (int64_t j = panel * kPanel; j < (panel + 1) * kPanel; ++j)
        *at++ = j < p.n ? static_cast<float>(elements.integer(k * p.n + j) - p.zero) : 0.0f;
}

// One zero point for the whole operand: a constant's value, which may stand there for each of `lines`, or an operand
// that is read at run. False when there are several.
inline bool zero_of(const BindScope& scope, int input, bool constant_only, int64_t lines, ZeroPoint& zero) {
  zero = {};
  if (input < 0 || !scope.has(input)) return true;
  const BoundOperand& operand = scope.input(input);
  if (!operand.constant) {
    zero.operand = input;
    return !constant_only && operand.view.count() == 1;
  }
  const Elements list(operand.view);
  const int64_t count = operand.view.count();
  if (count != 1 && count != lines) return false;
  zero.value = static_cast<int32_t>(list.integer(0));
  for (int64_t i = 1; i < count; ++i)
    if (list.integer(i) != zero.value) return false;
  return true;
}

// The largest distance of an element from its zero point.
inline int64_t largest_of(DType dtype, const ZeroPoint& zero) {
  const IntegerRange range = range_of_i8(dtype);
  return zero.operand >= 0 ? range.high - range.low : std::max(range.high - zero.value, zero.value - range.low);
}
inline constexpr int64_t kMostExact = int64_t{1} << 24;

inline bool sums_are_exact(const TensorView& b, int64_t b_zero, DType a, const ZeroPoint& a_zero) {
  const int64_t largest = largest_of(a, a_zero);
  const Elements elements(b);
  for (int64_t j = 0; j < b.dim(1); ++j) {
    int64_t sum = 0;
    for (int64_t k = 0; k < b.dim(0); ++k) sum += std::abs(elements.integer(k * b.dim(1) + j) - b_zero);
    if (sum * largest > kMostExact) return false;
  }
  return true;
}

inline Status add_exact(BindScope& scope, ProductStep& step, const ImageOperand& a, const ImageOperand& sums) {
  step.kernels = &gemm_kernels(scope.machine->isa);
  step.args.choice = choose_gemm(step.args.problem, scope.machine->isa, limits_of(*scope.machine));
  step.a = a.operand;
  step.c = sums.operand;
  return scope.add({.kernel = run_product,
                    .arguments = &step,
                    .tasks = step.args.choice.tasks,
                    .work = static_cast<double>(scope.output(0).view.count() * step.args.problem.k),
                    .scratch_bytes = static_cast<size_t>(step.args.choice.scratch_floats) * sizeof(float),
                    .name = "gemm_8bit_exact"});
}

// One constant matrix, in panels made ahead. False when its sums might not be exact.
inline Result<bool> take_constant(BindScope& scope, const ExactOperands& o, const ZeroPoint& a_zero,
                                  ProductStep& step) {
  const TensorView &a = scope.input(o.a).view, &b = scope.input(o.b).view;
  const int64_t k = b.dim(0), n = b.dim(1);
  ZeroPoint zero;
  if (b.rank != 2 || !zero_of(scope, o.b_zero, true, n, zero) || !sums_are_exact(b, zero.value, a.dtype, a_zero))
    return false;
  MICA_TRY(ExactPacking * packing, scope.arguments<ExactPacking>());
  *packing = {k, n, zero.value};
  const PackKey key{static_cast<uint32_t>(PackKind::kPanels16), {0, 1, 0, 1, zero.value}};
  MICA_TRY(const void* packed,
           scope.packed(o.b, {key, static_cast<size_t>(panels_size(k, n)) * sizeof(float), pack_exact, packing}));
  step.args.b = static_cast<const float*>(packed);
  step.args.problem = {.m = a.count() / k, .n = n, .k = k};
  step.args.a_stride = k;
  step.args.c_stride = n;
  return true;
}

// Matrices that come at run time, of few enough rows that all sums are exact.
inline Result<bool> take_operand(BindScope& scope, const ExactOperands& o, const ZeroPoint& a_zero, ProductStep& step) {
  const TensorView &a = scope.input(o.a).view, &b = scope.input(o.b).view, &out = scope.output(0).view;
  ZeroPoint zero;
  if (a.rank < 2 || b.rank < 2 || !zero_of(scope, o.b_zero, false, 1, zero)) return false;
  const auto floats = [](const TensorView& t) { return dense_view(nullptr, DType::kF32, t.shape()); };
  MatrixView left, right, result;
  if (!matrix_view(floats(a), true, false, left) || !matrix_view(floats(b), false, false, right) ||
      !result_view(floats(out), result) ||
      left.columns * largest_of(a.dtype, a_zero) * largest_of(b.dtype, zero) > kMostExact)
    return false;
  GemmArgs& g = step.args;
  g.problem = {.m = left.rows, .n = right.columns, .k = left.columns, .a_form = left.form, .b_form = right.form};
  g.a_stride = left.stride;
  g.b_stride = right.stride;
  g.c_stride = result.stride;
  if (!set_batches(step, left, right, result, {})) return false;
  MICA_TRY(const ImageOperand from,
           read_widened(scope, o.b, as_image(b, b.count() / b.dim(b.rank - 1), b.dim(b.rank - 1)), zero));
  step.b = from.operand;
  return from.operand >= 0;
}

// The sums as an image of one line (see as_image) of output 0's rows; operand -1 when the operands do not suit.
inline Result<ImageOperand> bind_exact(BindScope& scope, const ExactOperands& o) {
  const ImageOperand none{-1, {}};
  const TensorView &a = scope.input(o.a).view, &b = scope.input(o.b).view, &out = scope.output(0).view;
  if (!is_i8(a.dtype) || !is_i8(b.dtype) || !b.contiguous() || !a.contiguous() || !out.contiguous()) return none;
  if (a.empty() || b.empty() || out.empty() || b.rank < 2) return none;
  const int64_t k = b.dim(b.rank - 2), n = b.dim(b.rank - 1);
  ZeroPoint zero;
  if (!zero_of(scope, o.a_zero, false, a.count() / k, zero)) return none;
  MICA_TRY(ProductStep * step, scope.arguments<ProductStep>());
  MICA_TRY(const bool suits, (scope.input(o.b).constant ? take_constant : take_operand)(scope, o, zero, *step));
  if (!suits) return none;
  MICA_TRY(const ImageOperand from, read_widened(scope, o.a, as_image(a, a.count() / k, k), zero));
  MICA_TRY(const ImageOperand to, temporary_image(scope, as_image(out, out.count() / n, n)));
  if (from.operand < 0 || to.operand < 0) return none;
  MICA_TRY_STATUS(add_exact(scope, *step, from, to));
  return to;
}

inline Status finish_exact(BindScope& scope, const ImageOperand& sums, const float* multipliers, int32_t zero) {
  const TensorView out = as_image(scope.output(0).view, sums.view.extent[2], sums.view.channels);
  return write_narrowed(scope, sums, out,
                        {.index = static_cast<int>(scope.inputs.size()), .multipliers = multipliers, .zero = zero});
}

}  // namespace mica::matmul
