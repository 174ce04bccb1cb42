// Matrix products of 8-bit integers on the fp32 kernels. Where, for every column, Σ |b - b_zero| · max |a - a_zero|
// stays within 2^24, all partial sums are integers that fp32 holds exactly, whatever the order of summation. Larger
// sums are made in parts of k, and added as integers.
#pragma once
#include <cmath>

#include "base/hash.h"
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

// Rows of B that are a product of their own.
struct Depths {
  int64_t first, count;
};

struct ExactPacking {
  Depths rows;
  int64_t n;
  const int32_t* zeros;  // of each column
};
inline void pack_exact(const TensorView& plain, void* to, const void* context) {
  const auto& p = *static_cast<const ExactPacking*>(context);
  const Elements elements(plain);
  float* at = static_cast<float*>(to);
  for (int64_t panel = 0; panel < panel_count(p.n); ++panel)
    for (int64_t k = p.rows.first; k < p.rows.first + p.rows.count; ++k)
      for (int64_t j = panel * kPanel; j < (panel + 1) * kPanel; ++j)
        *at++ = j < p.n ? static_cast<float>(elements.integer(k * p.n + j) - p.zeros[j]) : 0.0f;
}

// One zero point for the whole operand: a constant's value, which may stand there for each of `lines`, or an operand
// that is read at run. False when there are several.
inline bool zero_of(const BindScope& scope, int input, int64_t lines, ZeroPoint& zero) {
  zero = {};
  if (input < 0 || !scope.has(input)) return true;
  const BoundOperand& operand = scope.input(input);
  if (!operand.constant) {
    zero.operand = input;
    return operand.view.count() == 1;
  }
  const Elements list(operand.view);
  const int64_t count = operand.view.count();
  if (count != 1 && count != lines) return false;
  zero.value = static_cast<int32_t>(list.integer(0));
  for (int64_t i = 1; i < count; ++i)
    if (list.integer(i) != zero.value) return false;
  return true;
}

// The zero points of a constant's columns; null when they come at run time, or are as many as nothing has.
inline Result<const int32_t*> column_zeros(BindScope& scope, int input, int64_t columns) {
  MICA_TRY(void* memory, scope.memory(static_cast<size_t>(columns) * sizeof(int32_t)));
  auto* zeros = static_cast<int32_t*>(memory);
  if (input < 0 || !scope.has(input)) return zeros;
  const BoundOperand& operand = scope.input(input);
  const int64_t count = operand.view.count();
  if (!operand.constant || (count != 1 && count != columns)) return static_cast<const int32_t*>(nullptr);
  const Elements list(operand.view);
  for (int64_t j = 0; j < columns; ++j) zeros[j] = static_cast<int32_t>(list.integer(count == 1 ? 0 : j));
  return zeros;
}

// The largest distance of an element from its zero point.
inline int64_t largest_of(DType dtype, const ZeroPoint& zero) {
  const IntegerRange range = range_of_i8(dtype);
  return zero.operand >= 0 ? range.high - range.low : std::max(range.high - zero.value, zero.value - range.low);
}
inline constexpr int64_t kMostExact = int64_t{1} << 24;

// Whether the sums of each `rows` rows of every column of a constant B are exact.
inline bool columns_are_exact(const TensorView& b, const int32_t* zeros, int64_t rows, int64_t largest) {
  const Elements elements(b);
  for (int64_t j = 0; j < b.dim(1); ++j) {
    int64_t sum = 0;
    for (int64_t k = 0; k < b.dim(0); ++k) {
      if (k % rows == 0) sum = 0;
      sum += std::abs(elements.integer(k * b.dim(1) + j) - zeros[j]);
      if (sum * largest > kMostExact) return false;
    }
  }
  return true;
}

// In how many parts of k all sums are exact; 0: in none of as many as are worth it. zeros: of a constant's columns, or
// null.
inline constexpr int kMostParts = 16;
inline int exact_parts(const TensorView& b, int64_t largest, const int32_t* zeros, int64_t largest_b) {
  const int64_t k = b.dim(b.rank - 2);
  for (int parts = 1; parts <= kMostParts; parts *= 2) {
    const int64_t rows = (k + parts - 1) / parts;
    if (zeros ? columns_are_exact(b, zeros, rows, largest) : rows * largest * largest_b <= kMostExact) return parts;
  }
  return 0;
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

// Rows of one constant matrix, in panels made ahead.
inline Status take_constant(BindScope& scope, const ExactOperands& o, const int32_t* zeros, Depths rows,
                            ProductStep& step) {
  const TensorView &a = scope.input(o.a).view, &b = scope.input(o.b).view;
  const int64_t k = b.dim(0), n = b.dim(1);
  MICA_TRY(ExactPacking * packing, scope.arguments<ExactPacking>());
  *packing = {rows, n, zeros};
  const auto hash = static_cast<int64_t>(hash_bytes(std::as_bytes(std::span(zeros, static_cast<size_t>(n)))));
  const PackKey key{static_cast<uint32_t>(PackKind::kPanels16), {rows.first, rows.count, 0, 1, hash}};
  MICA_TRY(const void* packed, scope.packed(o.b, {key, static_cast<size_t>(panels_size(rows.count, n)) * sizeof(float),
                                                  pack_exact, packing}));
  step.args.b = static_cast<const float*>(packed);
  step.args.problem = {.m = a.count() / k, .n = n, .k = rows.count};
  step.args.a_stride = k;
  step.args.c_stride = n;
  return {};
}

// Rows of matrices that come at run time, widened to operand `from`. False for strides that do not suit.
inline bool take_operand(const BindScope& scope, const ExactOperands& o, int from, Depths rows, ProductStep& step) {
  const auto floats = [](const TensorView& t) { return dense_view(nullptr, DType::kF32, t.shape()); };
  MatrixView left, right, result;
  if (!matrix_view(floats(scope.input(o.a).view), true, false, left) ||
      !matrix_view(floats(scope.input(o.b).view), false, false, right) ||
      !result_view(floats(scope.output(0).view), result) || left.form != MatrixForm::kRows ||
      right.form != MatrixForm::kRows)
    return false;
  GemmArgs& g = step.args;
  g.problem = {.m = left.rows, .n = right.columns, .k = rows.count, .a_form = left.form, .b_form = right.form};
  g.a_stride = left.stride;
  g.b_stride = right.stride;
  g.c_stride = result.stride;
  step.b = from;
  step.b_offset = rows.first * right.stride;
  return set_batches(step, left, right, result, {});
}

// The parts of the sums, each an image of one line (see as_image) of output 0's rows.
struct ExactSums {
  int parts = 0;  // 0: the operands do not suit
  ImageOperand part[kMostParts];
};

inline Result<ExactSums> bind_exact(BindScope& scope, const ExactOperands& o, int most_parts) {
  const TensorView &a = scope.input(o.a).view, &b = scope.input(o.b).view, &out = scope.output(0).view;
  const bool constant = scope.input(o.b).constant;
  ExactSums sums;
  if (!is_byte(a.dtype) || !is_byte(b.dtype) || !b.contiguous() || !a.contiguous() || !out.contiguous()) return sums;
  if (a.empty() || b.empty() || out.empty() || a.rank < (constant ? 1 : 2) || b.rank < 2 || (constant && b.rank > 2))
    return sums;
  const int64_t k = b.dim(b.rank - 2), n = b.dim(b.rank - 1);
  ZeroPoint a_zero, b_zero;
  const int32_t* zeros = nullptr;
  if (constant) {
    MICA_TRY(zeros, column_zeros(scope, o.b_zero, n));
  }
  if (!zero_of(scope, o.a_zero, a.count() / k, a_zero) || (constant ? !zeros : !zero_of(scope, o.b_zero, 1, b_zero)))
    return sums;
  const int parts = exact_parts(b, largest_of(a.dtype, a_zero), zeros, largest_of(b.dtype, b_zero));
  if (parts == 0 || parts > most_parts) return sums;
  MICA_TRY(const ImageOperand from, read_widened(scope, o.a, as_image(a, a.count() / k, k), a_zero));
  ImageOperand other;
  if (!constant) {
    MICA_TRY(other, read_widened(scope, o.b, as_image(b, b.count() / n, n), b_zero));
  }
  if (from.operand < 0 || other.operand < 0) return sums;
  const int64_t each = (k + parts - 1) / parts;
  for (int i = 0; i < parts && i * each < k; ++i) {
    const Depths rows{i * each, std::min(each, k - i * each)};
    MICA_TRY(ProductStep * step, scope.arguments<ProductStep>());
    step->a_offset = rows.first;
    if (constant)
      MICA_TRY_STATUS(take_constant(scope, o, zeros, rows, *step));
    else if (!take_operand(scope, o, other.operand, rows, *step))
      return ExactSums();
    MICA_TRY(sums.part[i], temporary_image(scope, as_image(out, out.count() / n, n)));
    if (sums.part[i].operand < 0) return ExactSums();
    MICA_TRY_STATUS(add_exact(scope, *step, from, sums.part[i]));
    sums.parts = i + 1;
  }
  return sums;
}

// Of one part.
inline Status finish_exact(BindScope& scope, const ImageOperand& sums, const float* multipliers, int32_t zero) {
  const TensorView out = as_image(scope.output(0).view, sums.view.extent[2], sums.view.channels);
  return write_narrowed(scope, sums, out,
                        {.index = static_cast<int>(scope.inputs.size()), .multipliers = multipliers, .zero = zero});
}

}  // namespace mica::matmul
