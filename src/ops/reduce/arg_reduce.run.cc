#include "ops/reduce/arg_reduce.h"

#include "kernels/reduce/reduce.h"
#include "step/chain.h"
#include "step/loops.h"
#include "types/infer.h"

namespace mica {
namespace {

struct Arguments {
  const ReduceKernels* kernels;
  ArgArgs arg;
  size_t out_slot;
};
void run(const void* arguments, void* const* operands, const TaskRange& range) {
  const auto& args = *static_cast<const Arguments*>(arguments);
  args.kernels->arg(args.arg, static_cast<const float*>(operands[0]), static_cast<int64_t*>(operands[args.out_slot]),
                    range.begin, range.end);
}

// A search along neighbours, or across neighbours; other strides are left to a dense copy.
MICA_AT_BIND Result<bool> bind(BindScope& scope) {
  const TensorView &x = scope.input(0).view, &out = scope.output(0).view;
  const auto& a = scope.attributes<ArgReduce>();
  if (x.dtype != DType::kF32 || x.rank == 0 || x.empty() || !strides_fit(x) || !strides_fit(out)) return false;
  MICA_TRY(const int axis, normalize_axis(a.axis, x.rank));
  if (x.dim(axis) > INT32_MAX) return false;
  PairLoops kept;
  constexpr int64_t kWider = sizeof(int64_t) / sizeof(float);  // both strides are told in floats
  for (int i = 0, o = 0; i < x.rank; ++i) {
    if (i != axis) kept.push(x.dim(i), x.stride(i), out.stride(o) / kWider, sizeof(float));
    if (i != axis || a.keep_dims) ++o;
  }
  kept.merge();
  ArgArgs args{.smallest = a.smallest, .last = a.last};
  args.n = x.dim(axis);
  args.in_stride = args.n == 1 ? 1 : x.stride(axis) / static_cast<int64_t>(sizeof(float));
  int outer = kept.count;
  if (args.in_stride != 1 && outer > 0 && kept.a[outer - 1] == 1) {
    --outer;
    args.lanes = kept.dims[outer];
    args.out_lane = kept.b[outer];
  }
  args.outer_loops = outer;
  for (int i = 0; i < outer; ++i) {
    args.outer[i] = kept.dims[i];
    args.in_outer[i] = kept.a[i];
    args.out_outer[i] = kept.b[i];
  }
  prepare_arg(args);
  MICA_TRY(Arguments * place, scope.arguments<Arguments>());
  *place = {&reduce_kernels(scope.machine->isa), args, scope.inputs.size()};
  MICA_TRY(const std::string_view name, kernel_name(scope, "arg_reduce", x.dtype));
  MICA_TRY_STATUS(scope.add({.kernel = run,
                             .arguments = place,
                             .tasks = args.tasks,
                             .work = 2 * static_cast<double>(x.count()),
                             .name = name}));
  return true;
}

}  // namespace

MICA_RUN(arg_reduce) = {.bind = bind};

}  // namespace mica
