// What the kernels of Fourier transforms are given: made when a stage is bound.
#pragma once
#include "kernels/fourier/fourier.h"
#include "step/run.h"

namespace mica::move {

// A plan whose roots live as long as the bound function; false for lengths that the kernels do not know.
Result<bool> make_fourier_plan(BindScope& scope, int64_t length, bool inverse, FourierPlan& plan);

// The four arrays of a line in a worker's scratch.
inline size_t fourier_scratch_bytes(const FourierPlan& plan) {
  return static_cast<size_t>(4 * plan.length) * sizeof(float);
}
inline FourierLine fourier_line(const FourierPlan& plan, void* scratch) {
  auto* floats = static_cast<float*>(scratch);
  return {floats, floats + plan.length, floats + 2 * plan.length, floats + 3 * plan.length};
}
inline double fourier_work(const FourierPlan& plan, int64_t lines) {
  return static_cast<double>(lines * plan.length) * (plan.passes + 1) * 4;
}

}  // namespace mica::move
