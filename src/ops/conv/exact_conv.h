// Convolution of 8-bit integers on the fp32 kernels. Where, for every output channel, Σ |w - w_zero| · max |x - x_zero|
// stays within 2^24, all partial sums are integers that fp32 holds exactly, whatever the order of summation:
// the results are those of integer arithmetic. Larger sums are left to the reference.
#pragma once
#include <cmath>

#include "ops/conv/conv_problem.h"
#include "ops/conv/conv_step.h"
#include "step/gemm_epilogue.h"
#include "step/quantized.h"
#include "types/requantize.h"

namespace mica::conv {

// Which operands of the stage are what; -1: none.
struct ExactOperands {
  int x = 0, x_zero = -1, w = 1, w_zero = -1;
};

struct ExactPacking {
  ConvProblem problem;
  ConvAlgorithm algorithm;
  int64_t zero;
};

// The panels of kernels/pack, of w - zero.
inline void pack_exact(const TensorView& plain, void* to, const void* context) {
  const auto& e = *static_cast<const ExactPacking*>(context);
  const ConvProblem& p = e.problem;
  const int64_t taps = p.kernel[0] * p.kernel[1] * p.kernel[2], in = p.in_channels / p.groups,
                out = p.out_channels / p.groups;
  const bool depthwise = e.algorithm == ConvAlgorithm::kDepthwise;
  const int64_t groups = depthwise ? 1 : p.groups, columns = depthwise ? p.out_channels : out;
  const int64_t panels = panel_count(columns), depth = taps * in;
  float* packed = static_cast<float*>(to);
  const Elements elements(plain);
  for (int64_t g = 0; g < groups; ++g)
    for (int64_t panel = 0; panel < panels; ++panel)
      for (int64_t k = 0; k < depth; ++k)
        for (int64_t j = 0; j < kPanel; ++j) {
          const int64_t n = panel * kPanel + j, row = g * out + n;
          *packed++ =
              n < columns ? static_cast<float>(elements.integer((row * in + k % in) * taps + k / in) - e.zero) : 0.0f;
        }
}

// One zero point for all of the weights, known now; false when they differ or are not known.
inline bool one_zero(const BindScope& scope, int input, int64_t& zero) {
  zero = 0;
  if (input < 0 || !scope.has(input)) return true;
  if (!scope.input(input).constant) return false;
  const Elements zeros(scope.input(input).view);
  zero = scope.input(input).view.count() > 0 ? zeros.integer(0) : 0;
  for (int64_t i = 1; i < scope.input(input).view.count(); ++i)
    if (zeros.integer(i) != zero) return false;
  return true;
}

// The largest |x - x_zero| that the element type allows.
inline int64_t largest_input(const BindScope& scope, const ExactOperands& o) {
  const IntegerRange range = range_of_i8(scope.input(o.x).view.dtype);
  if (o.x_zero >= 0 && scope.has(o.x_zero) && !scope.input(o.x_zero).constant) return range.high - range.low;
  const int64_t zero = o.x_zero >= 0 && scope.has(o.x_zero) ? Elements(scope.input(o.x_zero).view).integer(0) : 0;
  return std::max(range.high - zero, zero - range.low);
}

// Whether every output channel's sums are exact.
inline bool sums_are_exact(const BindScope& scope, const ExactOperands& o, int64_t w_zero) {
  const TensorView& w = scope.input(o.w).view;
  const int64_t channels = w.dim(0), per_channel = channels ? w.count() / channels : 0, input = largest_input(scope, o);
  const Elements weights(w);
  for (int64_t m = 0; m < channels; ++m) {
    int64_t sum = 0;
    for (int64_t i = 0; i < per_channel; ++i) sum += std::abs(weights.integer(m * per_channel + i) - w_zero);
    if (sum * input > int64_t{1} << 24) return false;
  }
  return true;
}

// Adds steps that leave the sums in a temporary image; operand -1 when the operands do not suit.
inline Result<ImageOperand> bind_exact(BindScope& scope, const Conv& attributes, const ExactOperands& o) {
  const ImageOperand none{-1, {}};
  const TensorView &x = scope.input(o.x).view, &w = scope.input(o.w).view, &out = scope.output(0).view;
  int64_t w_zero = 0;
  if (!scope.input(o.w).constant || !w.contiguous() || x.empty() || w.empty() || out.empty()) return none;
  if (!one_zero(scope, o.w_zero, w_zero) || !can_narrow(out)) return none;
  MICA_TRY(const Sizes sizes, sizes_of(attributes, x, w));
  MICA_TRY(ConvStep * step, scope.arguments<ConvStep>());
  ConvProblem& p = step->args.problem;
  if (!kernel_problem(sizes, p) || !sums_are_exact(scope, o, w_zero)) return none;
  ZeroPoint zero;
  if (o.x_zero >= 0 && scope.has(o.x_zero)) {
    if (scope.input(o.x_zero).constant)
      zero.value = static_cast<int32_t>(Elements(scope.input(o.x_zero).view).integer(0));
    else
      zero.operand = o.x_zero;
  }
  MICA_TRY(const ImageOperand from, read_widened(scope, o.x, x, zero));
  if (from.operand < 0) return none;
  MICA_TRY(const ImageOperand to, temporary_image(scope, out));
  p.in_view = view_of(from.view);
  p.out_view = view_of(to.view);
  ConvAlgorithm algorithm = choose_conv_algorithm(p);
  // What is transformed is rounded; others have no packing here.
  if (algorithm == ConvAlgorithm::kStrassen || algorithm == ConvAlgorithm::kPaired)
    algorithm = ConvAlgorithm::kPointwise;
  if (algorithm != ConvAlgorithm::kDepthwise && algorithm != ConvAlgorithm::kPointwise)
    algorithm = ConvAlgorithm::kImplicit;
  step->isa = scope.machine->isa;
  step->limits = limits_of(*scope.machine);
  step->args.choice = choose_conv(p, algorithm, step->isa, step->limits);
  step->kernels = &conv_kernels(scope.machine->isa);
  step->operands = {.x = from.operand, .y = to.operand};
  MICA_TRY(ExactPacking * packing, scope.arguments<ExactPacking>());
  *packing = {p, algorithm, w_zero};
  PackKey key = pack_key(p, algorithm);
  key.parameters[2] = 1;  // of integers
  key.parameters[3] = w_zero;
  const auto bytes = static_cast<size_t>(packed_conv_size(p, algorithm)) * sizeof(float);
  MICA_TRY(const void* packed, scope.packed(o.w, {key, bytes, pack_exact, packing}));
  step->args.w = static_cast<const float*>(packed);
  MICA_TRY_STATUS(add_step(scope, *step, "conv_8bit_exact"));
  return to;
}

}  // namespace mica::conv
