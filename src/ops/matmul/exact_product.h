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

inline bool sums_are_exact(const TensorView& b, int64_t b_zero, DType a, const ZeroPoint& a_zero) {
  const IntegerRange range = range_of_i8(a);
  const int64_t largest =
      a_zero.operand >= 0 ? range.high - range.low : std::max(range.high - a_zero.value, a_zero.value - range.low);
  const Elements elements(b);
  for (int64_t j = 0; j < b.dim(1); ++j) {
    int64_t sum = 0;
    for (int64_t k = 0; k < b.dim(0); ++k) sum += std::abs(elements.integer(k * b.dim(1) + j) - b_zero);
    if (sum * largest > int64_t{1} << 24) return false;
  }
  return true;
}

// The sums as an image of one line (see as_image) of output 0's rows; operand -1 when the operands do not suit.
inline Result<ImageOperand> bind_exact(BindScope& scope, const ExactOperands& o) {
  const ImageOperand none{-1, {}};
  const TensorView &a = scope.input(o.a).view, &b = scope.input(o.b).view, &out = scope.output(0).view;
  if (!is_i8(a.dtype) || !is_i8(b.dtype) || !scope.input(o.b).constant || b.rank != 2 || !b.contiguous()) return none;
  if (a.empty() || b.empty() || out.empty() || !a.contiguous() || !out.contiguous()) return none;
  const int64_t k = b.dim(0), n = b.dim(1), m = a.count() / k;
  ZeroPoint a_zero, b_zero;
  if (!zero_of(scope, o.a_zero, false, m, a_zero) || !zero_of(scope, o.b_zero, true, n, b_zero)) return none;
  if (!sums_are_exact(b, b_zero.value, a.dtype, a_zero)) return none;
  MICA_TRY(const ImageOperand from, read_widened(scope, o.a, as_image(a, m, k), a_zero));
  MICA_TRY(const ImageOperand to, temporary_image(scope, as_image(out, m, n)));
  if (from.operand < 0 || to.operand < 0) return none;
  MICA_TRY(ProductStep * step, scope.arguments<ProductStep>());
  MICA_TRY(ExactPacking * packing, scope.arguments<ExactPacking>());
  *packing = {k, n, b_zero.value};
  const PackKey key{static_cast<uint32_t>(PackKind::kPanels16), {0, 1, 0, 1, b_zero.value}};
  MICA_TRY(const void* packed,
           scope.packed(o.b, {key, static_cast<size_t>(panels_size(k, n)) * sizeof(float), pack_exact, packing}));
  GemmArgs& g = step->args;
  g.b = static_cast<const float*>(packed);
  g.problem = {.m = m, .n = n, .k = k};
  g.a_stride = k;
  g.c_stride = n;
  g.choice = choose_gemm(g.problem, scope.machine->isa, limits_of(*scope.machine));
  step->kernels = &gemm_kernels(scope.machine->isa);
  step->a = from.operand;
  step->c = to.operand;
  MICA_TRY_STATUS(scope.add({.kernel = run_product,
                             .arguments = step,
                             .tasks = g.choice.tasks,
                             .work = static_cast<double>(m * n) * static_cast<double>(k),
                             .scratch_bytes = static_cast<size_t>(g.choice.scratch_floats) * sizeof(float),
                             .name = "gemm_8bit_exact"}));
  return to;
}

inline Status finish_exact(BindScope& scope, const ImageOperand& sums, const float* multipliers, int32_t zero) {
  const TensorView out = as_image(scope.output(0).view, sums.view.extent[2], sums.view.channels);
  return write_narrowed(scope, sums, out,
                        {.index = static_cast<int>(scope.inputs.size()), .multipliers = multipliers, .zero = zero});
}

}  // namespace mica::matmul
