#include "ops/index/walk.h"

#include "step/copy_step.h"

namespace mica {
namespace {

// The table with the axes of the indices instead of its own one: they overlap.
bool walk(const TensorView& table, const BoundOperand& indices, int axis, move::Side& side) {
  const TensorView& view = indices.view;
  if (!indices.constant || view.empty() || table.rank - 1 + view.rank > kMaxRank) return false;
  const Elements list(view);
  int64_t steps[kMaxRank] = {}, at[kMaxRank] = {};
  const int64_t first = list.integer(0);
  for (int i = 0; i < view.rank; ++i) {
    if (view.dim(i) == 1) continue;
    at[i] = 1;
    steps[i] = list.integer_at(at) - first;
    at[i] = 0;
  }
  do {
    int64_t index = first;
    for (int i = 0; i < view.rank; ++i) index += at[i] * steps[i];
    if (index != list.integer_at(at) || index < 0 || index >= table.dim(axis)) return false;
  } while (next_index(at, view.shape()));
  side.offset = first * table.stride(axis);
  side.view.rank = 0;
  const auto add = [&](int64_t dim, int64_t stride) {
    const auto to = static_cast<size_t>(side.view.rank++);
    side.view.dims[to] = dim;
    side.view.strides[to] = stride;
  };
  for (int i = 0; i < axis; ++i) add(table.dim(i), table.stride(i));
  for (int i = 0; i < view.rank; ++i) add(view.dim(i), steps[i] * table.stride(axis));
  for (int i = axis + 1; i < table.rank; ++i) add(table.dim(i), table.stride(i));
  return true;
}

}  // namespace

Result<bool> bind_walk(BindScope& scope, int axis) {
  move::Side from = move::input_side(scope, 0);
  if (!walk(scope.input(0).view, scope.input(1), axis, from)) return false;
  MICA_TRY_STATUS(move::add_copy_step(scope, from, move::output_side(scope, 0)));
  return true;
}

}  // namespace mica
