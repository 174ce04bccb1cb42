#include "ops/conv/exact_conv.h"

namespace mica {
namespace {

enum Input { kX, kXScale, kXZero, kW, kWScale, kWZero, kYScale, kYZero, kBias };

MICA_AT_BIND Result<bool> bind(BindScope& scope) {
  if (scope.has(kBias) && !scope.input(kBias).constant) return false;
  for (int i : {kXScale, kXZero, kWScale, kYScale, kYZero})
    if (!scope.input(i).constant) return false;
  const int64_t channels = scope.input(kW).view.dim(0), scales = scope.input(kWScale).view.count();
  if (scales != 1 && scales != channels) return false;
  MICA_TRY(const ImageOperand sums,
           conv::bind_exact(scope, scope.attributes<Conv>(), {.x = kX, .x_zero = kXZero, .w = kW, .w_zero = kWZero}));
  if (sums.operand < 0) return false;
  MICA_TRY(void* memory, scope.memory(static_cast<size_t>(channels) * sizeof(float)));
  float* multipliers = static_cast<float*>(memory);
  const Elements w_scale(scope.input(kWScale).view);
  const auto x_scale = static_cast<float>(Elements(scope.input(kXScale).view).number(0));
  const auto y_scale = static_cast<float>(Elements(scope.input(kYScale).view).number(0));
  for (int64_t m = 0; m < channels; ++m)
    multipliers[m] = requantize_multiplier(x_scale, static_cast<float>(w_scale.number(scales == 1 ? 0 : m)), y_scale);
  int32_t* biases = nullptr;
  if (scope.has(kBias)) {
    MICA_TRY(void* place, scope.memory(static_cast<size_t>(channels) * sizeof(int32_t)));
    biases = static_cast<int32_t*>(place);
    const Elements given(scope.input(kBias).view);
    for (int64_t m = 0; m < channels; ++m) biases[m] = static_cast<int32_t>(given.integer(m));
  }
  const auto zero = static_cast<int32_t>(Elements(scope.input(kYZero).view).integer(0));
  MICA_TRY_STATUS(write_narrowed(
      scope, sums, scope.output(0).view,
      {.index = static_cast<int>(scope.inputs.size()), .multipliers = multipliers, .biases = biases, .zero = zero}));
  return true;
}

}  // namespace

MICA_RUN(qlinear_conv) = {.bind = bind};

}  // namespace mica
