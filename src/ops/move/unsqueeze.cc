#include "ops/move/view.h"

namespace mica {
namespace {

Result<Shape> unsqueezed(const Shape& in, Ints axes) {
  const int rank = in.rank + static_cast<int>(axes.size());
  MICA_CHECK(rank <= kMaxRank, kLimit, "a tensor of rank {}; at most {} are supported", rank, kMaxRank);
  MICA_TRY_STATUS(normalize_axes(axes, rank));
  bool added[kMaxRank] = {};
  for (int64_t axis : axes) added[axis] = true;
  Shape out = Shape::of_rank(0);
  for (int i = 0, from = 0; i < rank; ++i) out.push(added[i] ? Dim(1) : in[from++]);
  return out;
}

Status infer(InferScope& scope) {
  MICA_TRY_STATUS(require_rank(scope, 1, 0, 1));
  Ints axes;
  const Shape& in = scope.shape(0);
  if (!in.known() || !scope.ints(1, axes)) {
    Shape out;
    const Shape& list = scope.shape(1);
    const bool counted = in.known() && list.known() && (list.rank == 0 || (list.rank == 1 && list[0].is_fixed()));
    const int64_t more = !counted ? 0 : list.rank == 0 ? 1 : list[0].value();
    if (counted && more >= 0 && more <= kMaxRank - in.rank) {
      out = Shape::of_rank(in.rank + static_cast<int>(more));
      for (int i = 0; i < out.rank; ++i) out[i] = scope.dims().fresh("unsqueeze");
    }
    scope.out(0, scope.dtype(0), out);
    return {};
  }
  MICA_TRY(const Shape out, unsqueezed(in, axes));
  scope.out(0, scope.dtype(0), out);
  return {};
}

Status reference(RunScope& scope) {
  MICA_TRY(const Ints axes, read_ints(scope.in(1), "axes"));
  MICA_TRY(const Shape out, unsqueezed(scope.in(0).to_shape(), axes));
  MICA_TRY_STATUS(allocate_output(scope, 0, out, DimTable()));
  return move::copy_reshaped(scope);
}

}  // namespace

MICA_OP(unsqueeze) = {.name = "unsqueeze",
                      .doc = "Inserts axes of one element at the places of the result that input 1 lists",
                      .inputs = {2, 2},
                      .infer = infer,
                      .reference = reference,
                      .flops = [](const CostScope&) -> int64_t { return 0; },
                      .view = move::view_reshaped,
                      .dim_rule = DimRule::kMove};

}  // namespace mica
