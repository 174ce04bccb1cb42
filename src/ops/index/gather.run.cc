#include "kernels/move/move.h"
#include "ops/index/axis.h"
#include "ops/index/walk.h"

namespace mica {
namespace {

struct GatherStep {
  GatherPlan plan;
  int table, indices, out;
};

void run(const void* arguments, void* const* operands, const TaskRange& range) {
  const auto& args = *static_cast<const GatherStep*>(arguments);
  gather_rows(args.plan, static_cast<const char*>(operands[args.table]), operands[args.indices],
              static_cast<char*>(operands[args.out]), range.begin, range.end);
}

Status check(const void* arguments, void* const* operands) {
  const auto& args = *static_cast<const GatherStep*>(arguments);
  const int64_t wrong = gather_out_of_range(args.plan, operands[args.indices]);
  MICA_CHECK(wrong < 0, kBadValue, "the index at place {} of a gather is outside [{}, {}]", wrong, -args.plan.size,
             args.plan.size - 1);
  return {};
}

// Axes [first, last) of a view as one: their number of elements and the bytes between them. False when they are not
// evenly spaced.
bool join_axes(const TensorView& view, int first, int last, int64_t& count, int64_t& step) {
  count = 1;
  step = 0;
  for (int i = last; i-- > first;) {
    if (view.dim(i) == 1) continue;
    if (count != 1 && view.stride(i) != step * count) return false;
    if (count == 1) step = view.stride(i);
    count *= view.dim(i);
  }
  return true;
}

// Rows that are dense on both sides, outer axes that act as one: what token embeddings and lookups are.
bool plan_gather(const TensorView& table, const TensorView& indices, const TensorView& out, int axis,
                 GatherPlan& plan) {
  const int64_t bytes = element_bytes(table.dtype);
  int64_t inner = 0, step = 0, outer = 0, index_bytes = 0;
  const auto dense = [&](const TensorView& view, int first) {
    return join_axes(view, first, view.rank, inner, step) && (inner == 1 || step == bytes);
  };
  if (!dense(table, axis + 1) || !dense(out, axis + indices.rank)) return false;
  plan.row_bytes = inner * bytes;
  if (!join_axes(table, 0, axis, plan.outer, plan.table_outer) || !join_axes(out, 0, axis, outer, plan.out_outer))
    return false;
  if (!join_axes(out, axis, axis + indices.rank, plan.count, plan.out_row)) return false;
  if (!join_axes(indices, 0, indices.rank, plan.count, index_bytes)) return false;
  plan.table_row = table.stride(axis);
  plan.size = table.dim(axis);
  plan.wide = indices.dtype == DType::kI64;
  plan.index_step = index_bytes / element_bytes(indices.dtype);
  return index_bytes % element_bytes(indices.dtype) == 0;
}

MICA_AT_BIND Result<bool> bind(BindScope& scope) {
  const TensorView &table = scope.input(0).view, &indices = scope.input(1).view, &out = scope.output(0).view;
  if (is_sub_byte(table.dtype) || table.dtype == DType::kString) return false;
  if (indices.dtype != DType::kI64 && indices.dtype != DType::kI32) return false;
  MICA_TRY(const int axis, normalize_axis(scope.attributes<IndexAxis>().axis, table.rank));
  if (out.empty()) return true;
  MICA_TRY(const bool walks, bind_walk(scope, axis));
  if (walks) return true;
  GatherPlan plan;
  if (!plan_gather(table, indices, out, axis, plan)) return false;
  MICA_TRY(GatherStep * args, scope.arguments<GatherStep>());
  *args = {plan, 0, 1, 2};
  const int64_t tasks = plan.outer * plan.count;
  MICA_TRY_STATUS(scope.add({.kernel = run,
                             .arguments = args,
                             .tasks = tasks,
                             .work = static_cast<double>(tasks) * (8 + static_cast<double>(plan.row_bytes) / 4),
                             .check = check,
                             .name = "gather_rows"}));
  return true;
}

}  // namespace

MICA_RUN(gather) = {.bind = bind};

}  // namespace mica
