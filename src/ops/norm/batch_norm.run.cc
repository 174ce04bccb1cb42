#include "ops/norm/batch_norm.h"

#include <cmath>

#include "ops/norm/norm_run.h"

namespace mica {
namespace {

// x · factor + shift, both by channel, made from the four parameters each run: they are few.
struct Arguments {
  int64_t count;
  float epsilon;
  size_t factor, shift;  // slots
};
void run_parameters(const void* arguments, void* const* operands, const TaskRange&) {
  const auto& args = *static_cast<const Arguments*>(arguments);
  const auto* scale = static_cast<const float*>(operands[1]);
  const auto* bias = static_cast<const float*>(operands[2]);
  const auto* mean = static_cast<const float*>(operands[3]);
  const auto* variance = static_cast<const float*>(operands[4]);
  auto* factor = static_cast<float*>(operands[args.factor]);
  auto* shift = static_cast<float*>(operands[args.shift]);
  for (int64_t i = 0; i < args.count; ++i) {
    const double f =
        static_cast<double>(scale[i]) / std::sqrt(static_cast<double>(variance[i]) + static_cast<double>(args.epsilon));
    factor[i] = static_cast<float>(f);
    shift[i] = static_cast<float>(static_cast<double>(bias[i]) - static_cast<double>(mean[i]) * f);
  }
}

// The parameters as an operand of a chain: like a dense tensor of the axes from 1 on, broadcast over the rest.
bool parameter_operand(const TensorView& parameters, const TensorView& out, int slot, ChainStep& step, Pointwise f) {
  TensorView view = parameters;
  view.rank = out.rank - 1;
  for (int i = parameters.rank; i < view.rank; ++i) view.dims[static_cast<size_t>(i)] = 1;
  set_dense_strides(view);
  step.function = f;
  return chain_operand(view, out, slot, step.operand);
}

MICA_AT_BIND Result<bool> bind(BindScope& scope) {
  const auto& a = scope.attributes<BatchNorm>();
  const TensorView &x = scope.input(0).view, &y = scope.output(0).view, &scale = scope.input(1).view;
  if (a.training || !norm::takes(scope) || x.rank < 2) return false;
  for (int i = 1; i < 5; ++i)
    if (!norm::is_dense_f32(scope.input(i))) return false;
  for (int o = 1; o < static_cast<int>(scope.outputs.size()); ++o)
    if (scope.output(o).present) return false;
  const auto bytes = static_cast<size_t>(scale.count()) * sizeof(float);
  MICA_TRY(const int factor, scope.temporary(bytes));
  MICA_TRY(const int shift, scope.temporary(bytes));
  MICA_TRY(ChainArguments * chain, scope.arguments<ChainArguments>());
  chain->kernels = &eltwise_kernels(scope.machine->isa);
  ChainArgs& c = chain->chain;
  c.loops = y.rank;
  for (int i = 0; i < y.rank; ++i) c.dims[i] = y.dim(i);
  c.count = 2;
  const bool fits = chain_operand(x, y, 0, c.in) && chain_operand(y, y, static_cast<int>(scope.inputs.size()), c.out) &&
                    parameter_operand(scale, y, factor, c.steps[0], Pointwise::kMul) &&
                    parameter_operand(scale, y, shift, c.steps[1], Pointwise::kAdd);
  if (!fits) return false;
  prepare_chain(c);
  MICA_TRY(Arguments * args, scope.arguments<Arguments>());
  *args = {scale.count(), a.epsilon, static_cast<size_t>(factor), static_cast<size_t>(shift)};
  MICA_TRY(const std::string_view name, kernel_name(scope, "batch_norm", x.dtype));
  MICA_TRY_STATUS(scope.add(
      {.kernel = run_parameters, .arguments = args, .work = static_cast<double>(scale.count()), .name = name}));
  MICA_TRY_STATUS(scope.add(chain_step(*chain, name)));
  return true;
}

}  // namespace

MICA_RUN(batch_norm) = {.bind = bind};

}  // namespace mica
