// In memory where the axis is innermost and everything else is rows of one pitch: rows are mixed. Elsewhere each input
// is copied to its places.
#include "ops/move/interleave.h"

#include "kernels/move/interleave.h"
#include "step/copy_step.h"

namespace mica {
namespace {

struct InterleaveStep {
  InterleaveArgs args;
  int out = 0;  // operand
  const InterleaveKernels* kernels = nullptr;
};

void run_interleave(const void* arguments, void* const* operands, const TaskRange& range) {
  const auto& step = *static_cast<const InterleaveStep*>(arguments);
  InterleaveArgs args = step.args;
  for (int j = 0; j < args.parts; ++j) args.from[j] = static_cast<const char*>(operands[j]);
  args.to = static_cast<char*>(operands[step.out]);
  step.kernels->run(args, range.begin, range.end);
}

// The bytes from row to row where all axes but `axis` act as one, taken in the order of `order`'s strides; else 0.
int64_t pitch_of(const TensorView& view, const TensorView& order, int axis) {
  int64_t pitch = 1, extent = 0;  // of the rows joined so far
  bool used[kMaxRank] = {}, first = true;
  for (int round = 0; round < view.rank; ++round) {
    int next = -1;
    for (int i = 0; i < view.rank; ++i)
      if (i != axis && !used[i] && view.dim(i) > 1 && (next < 0 || order.stride(i) < order.stride(next))) next = i;
    if (next < 0) break;
    used[next] = true;
    if (first)
      pitch = extent = view.stride(next);
    else if (view.stride(next) != extent)
      return 0;
    first = false;
    extent *= view.dim(next);
  }
  return pitch;
}

bool mixes_rows(const BindScope& scope, int axis, InterleaveArgs& args) {
  const TensorView &out = scope.output(0).view, &first = scope.input(0).view;
  args.parts = static_cast<int>(scope.inputs.size());
  args.element = element_bytes(out.dtype);
  if (args.parts > kMostInterleaved || args.element > 8 || out.stride(axis) != args.element) return false;
  args.row = first.dim(axis);
  args.rows = first.count() / args.row;
  args.out = pitch_of(out, out, axis);
  for (int j = 0; j < args.parts; ++j) {
    const TensorView& in = scope.input(j).view;
    args.pitch[j] = pitch_of(in, out, axis);
    if ((args.row > 1 && in.stride(axis) != args.element) || args.pitch[j] <= 0) return false;
  }
  return args.out > 0;
}

MICA_AT_BIND Result<bool> bind(BindScope& scope) {
  if (!move::can_copy(scope)) return false;
  const move::Side whole = move::output_side(scope, 0);
  if (whole.view.empty()) return true;
  MICA_TRY(const int axis, normalize_axis(scope.attributes<Interleave>().axis, whole.view.rank));
  const int parts = static_cast<int>(scope.inputs.size());
  InterleaveArgs args;
  if (mixes_rows(scope, axis, args)) {
    prepare_interleave(args);
    MICA_TRY(InterleaveStep * step, scope.arguments<InterleaveStep>());
    *step = {args, parts, &interleave_kernels(scope.machine->isa)};
    MICA_TRY_STATUS(scope.add({.kernel = run_interleave,
                               .arguments = step,
                               .tasks = args.tasks,
                               .work = static_cast<double>(whole.view.count() * args.element) / 4,
                               .name = "interleave_rows"}));
    return true;
  }
  for (int i = 0; i < parts; ++i) {
    const move::Side part = move::input_side(scope, i);
    MICA_TRY_STATUS(move::add_copy_step(scope, part, move::part_of(whole, axis, i, part.view.dim(axis), parts)));
  }
  return true;
}

}  // namespace

MICA_RUN(interleave) = {.bind = bind};

}  // namespace mica
