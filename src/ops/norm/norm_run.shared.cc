#include "ops/norm/norm_run.h"

namespace mica::norm {

Result<bool> bind_rows(BindScope& scope, int64_t given_axis, float epsilon, bool center) {
  if (!takes(scope)) return false;
  const TensorView &x = scope.input(0).view, &y = scope.output(0).view;
  MICA_TRY(const int axis, normalize_axis(given_axis, x.rank));
  const PairLoops outer = loops_between(x, y, 0, axis), inner = loops_between(x, y, axis, x.rank);
  if (!is_run(inner) || outer.count > 2) return false;
  NormArguments filled;
  NormArgs& n = filled.norm;
  n.center = center;
  n.epsilon = epsilon;
  n.n = inner.size();
  n.rows = outer.size();
  if (outer.count > 0)
    n.in_group = outer.a[outer.count - 1], n.out_group = outer.b[outer.count - 1],
    n.groups = outer.dims[outer.count - 1];
  if (outer.count > 1) n.in_batch = outer.a[0], n.out_batch = outer.b[0];
  // Operands of the epilogue stand behind the operator's own.
  int own = static_cast<int>(scope.inputs.size());
  for (int i = 0; i < scope.epilogue.count; ++i) own -= scope.epilogue.ops[i].operand >= 0;
  for (int i = 1; i < std::min(own, center ? 3 : 2); ++i) {
    if (!scope.has(i)) continue;
    if (!is_dense_f32(scope.input(i)) || scope.input(i).view.count() != n.n) return false;
    (i == 1 ? filled.scale : filled.bias) = i;
  }
  for (int o = 1; o < static_cast<int>(scope.outputs.size()); ++o) {
    if (!scope.output(o).present) continue;
    if (!is_dense_f32(scope.output(o))) return false;
    (o == 1 ? filled.mean : filled.deviation) = static_cast<int>(scope.inputs.size()) + o;
  }
  MICA_TRY_STATUS(add_norm(scope, filled));
  return true;
}

Result<bool> bind_groups(BindScope& scope, int64_t groups, float epsilon, bool per_group) {
  if (!takes(scope)) return false;
  const TensorView &x = scope.input(0).view, &y = scope.output(0).view;
  const PairLoops spatial = loops_between(x, y, 2, x.rank);
  const int64_t bytes = sizeof(float), channels = x.dim(1) / groups;
  const bool planes = is_run(spatial);
  const bool pixels = spatial.count == 1 && x.stride(1) == bytes && y.stride(1) == bytes && !per_group;
  if ((!planes && !pixels) || !is_dense_f32(scope.input(1)) || !is_dense_f32(scope.input(2))) return false;
  NormArguments filled{.scale = 1, .bias = 2};
  NormArgs& n = filled.norm;
  n.per_element = false;
  n.epsilon = epsilon;
  n.rows = x.dim(0) * groups;
  n.groups = groups;
  n.runs = channels;
  n.n = spatial.size();
  n.in_batch = x.stride(0) / bytes, n.out_batch = y.stride(0) / bytes;
  n.in_run = x.stride(1) / bytes, n.out_run = y.stride(1) / bytes;
  n.in_group = n.in_run * channels, n.out_group = n.out_run * channels;
  n.parameters_per_group = channels;
  if (!planes) n.in_pixel = spatial.a[0], n.out_pixel = spatial.b[0];
  if (per_group) {
    if (channels > 1 && (n.in_run != n.n || n.out_run != n.n)) return false;
    n.n *= channels;
    n.runs = n.parameters_per_group = 1;
  }
  MICA_TRY_STATUS(add_norm(scope, filled));
  return true;
}

Status add_norm(BindScope& scope, NormArguments filled) {
  filled.kernels = &norm_kernels(scope.machine->isa);
  filled.y = static_cast<int>(scope.inputs.size());
  prepare_norm(filled.norm);
  MICA_TRY(NormArguments * args, scope.arguments<NormArguments>());
  *args = filled;
  MICA_TRY(const std::string_view name, kernel_name(scope, scope.op->name, DType::kF32));
  constexpr double kWork = 4;  // multiply-adds an element
  return scope.add({.kernel = run_norm,
                    .arguments = args,
                    .tasks = args->norm.tasks,
                    .work = kWork * static_cast<double>(scope.input(0).view.count()),
                    .name = name});
}

void run_norm(const void* arguments, void* const* operands, const TaskRange& range) {
  const auto& args = *static_cast<const NormArguments*>(arguments);
  const auto at = [&](int slot) { return slot < 0 ? nullptr : static_cast<float*>(operands[slot]); };
  const NormOperands o{at(0), at(args.scale), at(args.bias), at(args.y), at(args.mean), at(args.deviation)};
  args.kernels->norm(args.norm, o, range.begin, range.end);
}

}  // namespace mica::norm
