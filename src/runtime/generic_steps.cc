#include "runtime/generic_steps.h"

#include "types/tensor.h"

namespace mica {

namespace {

void run_copy(const void* arguments, void* const* operands, const TaskRange& range) {
  const auto& args = *static_cast<const CopyArguments*>(arguments);
  if (args.kernels) {
    args.kernels->copy(args.plan, static_cast<const char*>(operands[0]), static_cast<char*>(operands[1]), range.begin,
                       range.end);
    return;
  }
  TensorView from = args.from, to = args.to;
  from.data = operands[0];
  to.data = operands[1];
  if (!from.empty()) copy_elements(from, to);
}

}  // namespace

StepSpec copy_step(CopyArguments& args, const TensorView& from, const TensorView& to, Isa isa) {
  args = {.from = from, .to = to, .plan = {}, .kernels = nullptr};
  // A byte moved costs about as much as a quarter of a multiply-add; element by element it is much more.
  if (is_sub_byte(to.dtype) || to.empty())
    return {.kernel = run_copy, .arguments = &args, .work = 8 * static_cast<double>(to.count()), .name = "copy"};
  CopyAxis axes[kMaxRank];
  for (int i = 0; i < to.rank; ++i) axes[i] = {to.dim(i), from.stride(i), to.stride(i)};
  args.plan = plan_copy(axes, to.rank, element_bytes(to.dtype));
  args.kernels = &move_kernels(isa);
  static constexpr std::string_view kNames[] = {"copy_rows", "copy_fill", "copy_transpose", "copy_strided"};
  return {.kernel = run_copy,
          .arguments = &args,
          .tasks = args.plan.tasks,
          .work = static_cast<double>(args.plan.bytes) / 4,
          .name = kNames[static_cast<int>(args.plan.kind)]};
}

void run_post_op(const void* arguments, void* const* operands, const TaskRange&) {
  const auto& args = *static_cast<const PostOpArguments*>(arguments);
  TensorView result = args.result, second = args.second;
  result.data = operands[0];
  second.data = operands[1];
  if (result.empty()) return;
  const Elements out(result), other(second);
  int64_t index[kMaxRank] = {}, at[kMaxRank] = {};
  const int shift = result.rank - second.rank;
  const bool integers = is_integer(result.dtype) && has_int_form(args.op.function);
  do {
    for (int i = 0; i < second.rank; ++i) at[i] = second.dim(i) == 1 ? 0 : index[i + shift];
    if (integers) {
      int64_t x = out.integer_at(index), y = second.data ? other.integer_at(at) : 0;
      if (args.op.swapped) std::swap(x, y);
      out.set_integer_at(index, apply_int(args.op.function, x, y, kind_of(result.dtype) == NumberKind::kUnsigned));
    } else {
      double x = out.number_at(index), y = second.data ? other.number_at(at) : 0;
      if (args.op.swapped) std::swap(x, y);
      out.set_number_at(index, apply(args.op.function, x, y, args.op.a, args.op.b));
    }
  } while (next_index(index, result.shape()));
}

}  // namespace mica
