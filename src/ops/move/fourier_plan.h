// What the kernels of Fourier transforms are given: made when a stage is bound.
#pragma once
#include "kernels/fourier/fourier.h"
#include "step/run.h"

namespace mica::move {

// A plan whose roots live as long as the bound function; false for lengths that the kernels do not know.
Result<bool> make_fourier_plan(BindScope& scope, int64_t length, bool inverse, FourierPlan& plan);

// The four arrays of a line in a worker's scratch.
inline FourierLine fourier_line(const FourierPlan& plan, void* scratch) {
  auto* floats = static_cast<float*>(scratch);
  return {floats, floats + plan.length, floats + 2 * plan.length, floats + 3 * plan.length};
}

// A step with a line for each task.
struct FourierStep {
  std::string_view op;
  KernelFn kernel;
  const void* arguments;
  int64_t lines;
};
Status add_fourier_step(BindScope& scope, const FourierPlan& plan, const FourierStep& step);

}  // namespace mica::move
