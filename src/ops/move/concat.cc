#include "ops/move/concat.h"

#include "types/operand.h"

namespace mica {
namespace {

// Joins `b` to `a` along the axis; the other dims must agree.
Status join(Shape& a, const Shape& b, int axis, DimTable& dims) {
  MICA_CHECK(a.rank == b.rank, kBadRank, "inputs of concat have ranks {} and {}", a.rank, b.rank);
  for (int i = 0; i < a.rank; ++i) {
    if (i == axis) {
      a[i] = dims.add(a[i], b[i]);
      continue;
    }
    MICA_TRY(a[i], same_dim(a[i], b[i], "dims beside the axis of concat"));
  }
  return {};
}

Status infer(InferScope& scope) {
  bool known = true;
  for (int i = 0; i < static_cast<int>(scope.inputs.size()); ++i) {
    MICA_CHECK(scope.has(i), kBadShape, "input {} of concat is left out", i);
    MICA_TRY_STATUS(require_same_dtype(scope, 0, i));
    known = known && scope.shape(i).known();
  }
  Shape out;
  if (known) {
    out = scope.shape(0);
    MICA_TRY(const int axis, normalize_axis(scope.attributes<Concat>().axis, out.rank));
    for (int i = 1; i < static_cast<int>(scope.inputs.size()); ++i)
      MICA_TRY_STATUS(join(out, scope.shape(i), axis, scope.dims()));
  }
  scope.out(0, scope.dtype(0), out);
  return {};
}

Status reference(RunScope& scope) {
  DimTable dims;
  Shape shape = scope.in(0).to_shape();
  MICA_TRY(const int axis, normalize_axis(scope.attributes<Concat>().axis, shape.rank));
  for (int i = 1; i < static_cast<int>(scope.inputs.size()); ++i)
    MICA_TRY_STATUS(join(shape, scope.in(i).to_shape(), axis, dims));
  MICA_TRY_STATUS(allocate_output(scope, 0, shape, dims));
  MICA_TRY(const TensorView to, wide_output(scope, 0));
  int64_t at = 0;
  for (int i = 0; i < static_cast<int>(scope.inputs.size()); ++i) {
    MICA_TRY(const TensorView from, wide_input(scope, i));
    copy_elements(from, slice_axis(to, axis, at, from.dim(axis)));
    at += from.dim(axis);
  }
  finish_output(scope, 0, to);
  return {};
}

// Input `input` is the slice of the whole behind the inputs before it.
bool compose(const RunScope& scope, const TensorView& out, TensorView& in, int input) {
  const auto axis = normalize_axis(scope.attributes<Concat>().axis, out.rank);
  if (!axis.ok()) return false;
  int64_t at = 0;
  for (int i = 0; i < input; ++i) at += scope.in(i).dim(*axis);
  const TensorView part = slice_axis(out, *axis, at, scope.in(input).dim(*axis));
  in.data = part.data;
  in.strides = part.strides;
  return true;
}

}  // namespace

MICA_OP(concat) = {.name = "concat",
                   .doc = "The inputs one after the other along `axis`",
                   .inputs = {1, kAnyNumber},
                   .attributes = attr_class<Concat>(),
                   .infer = infer,
                   .reference = reference,
                   .flops = [](const CostScope&) -> int64_t { return 0; },
                   .compose = compose,
                   .dim_rule = DimRule::kMove,
                   .layout = LayoutRule::kAny};

}  // namespace mica
