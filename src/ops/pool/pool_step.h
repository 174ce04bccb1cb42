// Pooling steps: what the pooling operators share at bind.
#pragma once
#include "kernels/pool/pool.h"
#include "step/quantized.h"
#include "types/window.h"

namespace mica::pool {

struct PoolStep {
  PoolArgs args;
  int x = 0, y = 0;  // operands
  const PoolKernels* kernels;
};

void run_pool_step(const void* arguments, void* const* operands, const TaskRange& range);

inline PoolView view_of(const ImageView& v) { return {v.image, v.depth, v.row, v.pixel}; }

// Adds the step of `problem`, whose kind and window are set, between two operands.
Status add_pool(BindScope& scope, const PoolProblem& problem, const ImageOperand& from, const ImageOperand& to,
                std::string_view name);

// All steps for fp32 operands; false when types or strides do not suit.
Result<bool> bind_pool(BindScope& scope, const PoolProblem& problem, std::string_view name);

// The same for maxima of 8-bit integers, which fp32 holds exactly.
Result<bool> bind_pool_8bit(BindScope& scope, const PoolProblem& problem, std::string_view name);

// The numbers of a window over one to three axes; false for more.
bool set_window(PoolProblem& p, const Window& w);

// RunDef::rows of pooling. The padding behind counts as it stands: a band that does not end with the input has no
// window that reaches it.
bool rows(const BindScope& scope, const WindowSpec& spec, std::span<const int64_t> kernel, RowWindow& window);

// A window that is the whole input.
bool set_global(PoolProblem& p, const TensorView& x);

}  // namespace mica::pool
