#include "ops/reduce/softmax_run.h"

namespace mica::reduce {

Result<bool> bind_softmax(BindScope& scope, bool logarithm) {
  const TensorView &x = scope.input(0).view, &out = scope.output(0).view;
  if (x.dtype != DType::kF32 || !strides_fit(x) || !strides_fit(out)) return false;
  MICA_TRY(const AxisSet set, softmax_axes(scope.attributes<Softmax>(), x.rank));
  PairLoops kept, along;
  for (int i = 0; i < x.rank; ++i) (set[i] ? along : kept).push(x.dim(i), x.stride(i), out.stride(i), sizeof(float));
  kept.merge();
  along.merge();
  if (along.count > 1) return false;
  SoftmaxArgs args{.logarithm = logarithm, .zero_nan = scope.attributes<Softmax>().zero_nan};
  args.n = x.empty() ? 0 : along.size();
  if (along.count) args.in_stride = along.a[0], args.out_stride = along.b[0];
  const bool side_by_side = args.in_stride != 1 || args.out_stride != 1;
  if (side_by_side) {
    if (kept.count == 0 || kept.a[kept.count - 1] != 1 || kept.b[kept.count - 1] != 1) return false;
    args.lanes = kept.dims[kept.count - 1];
  }
  args.outer_loops = kept.count - (side_by_side ? 1 : 0);
  for (int i = 0; i < args.outer_loops; ++i) {
    args.outer[i] = kept.dims[i];
    args.in_outer[i] = kept.a[i];
    args.out_outer[i] = kept.b[i];
  }
  prepare_softmax(args);
  MICA_TRY(SoftmaxArguments * place, scope.arguments<SoftmaxArguments>());
  *place = {&reduce_kernels(scope.machine->isa), args, scope.inputs.size()};
  MICA_TRY(const std::string_view name, kernel_name(scope, scope.op->name, x.dtype));
  constexpr double kWork = 12;  // multiply-adds an element: a power and two passes
  MICA_TRY_STATUS(scope.add({.kernel = run_softmax,
                             .arguments = place,
                             .tasks = args.tasks,
                             .work = kWork * static_cast<double>(x.count()),
                             .name = name}));
  return true;
}

void run_softmax(const void* arguments, void* const* operands, const TaskRange& range) {
  const auto& args = *static_cast<const SoftmaxArguments*>(arguments);
  args.kernels->softmax(args.softmax, static_cast<const float*>(operands[0]),
                        static_cast<float*>(operands[args.out_slot]), range.begin, range.end);
}

}  // namespace mica::reduce
