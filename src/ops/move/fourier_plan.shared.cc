#include "ops/move/fourier_plan.h"

#include "step/chain.h"

namespace mica::move {

Result<bool> make_fourier_plan(BindScope& scope, int64_t length, bool inverse, FourierPlan& plan) {
  constexpr int64_t kMaxLength = int64_t{1} << 24;  // offsets and scratch stay far from their limits
  plan = {.inverse = inverse};
  if (length < 1 || length > kMaxLength || !fourier_factors(length, plan)) return false;
  const int64_t roots = fourier_roots(plan);
  MICA_TRY(void* memory, scope.memory(static_cast<size_t>(2 * roots + 1) * sizeof(float)));
  auto* re = static_cast<float*>(memory);
  fill_fourier_roots(plan, re, re + roots);
  plan.re = re;
  plan.im = re + roots;
  return true;
}

Status add_fourier_step(BindScope& scope, const FourierPlan& plan, const FourierStep& step) {
  MICA_TRY(const std::string_view name, kernel_name(scope, step.op, DType::kF32));
  return scope.add({.kernel = step.kernel,
                    .arguments = step.arguments,
                    .tasks = step.lines,
                    .work = static_cast<double>(step.lines * plan.length) * (plan.passes + 1) * 4,
                    .scratch_bytes = static_cast<size_t>(4 * plan.length) * sizeof(float),
                    .name = name});
}

}  // namespace mica::move
