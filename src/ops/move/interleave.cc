#include "ops/move/interleave.h"

#include <algorithm>

#include "types/operand.h"

namespace mica {
namespace {

// Inputs have one shape; the result is as many times as long along the axis.
Status infer(InferScope& scope) {
  const int parts = static_cast<int>(scope.inputs.size());
  Shape out;
  for (int i = 0; i < parts; ++i) {
    MICA_CHECK(scope.has(i), kBadShape, "input {} of interleave is left out", i);
    MICA_TRY_STATUS(require_same_dtype(scope, 0, i));
    const Shape& shape = scope.shape(i);
    if (!shape.known()) continue;
    if (!out.known()) out = shape;
    MICA_CHECK(out.rank == shape.rank, kBadRank, "inputs of interleave have ranks {} and {}", out.rank, shape.rank);
    for (int k = 0; k < out.rank; ++k) {
      MICA_TRY(out[k], same_dim(out[k], shape[k], "dims of interleave"));
    }
  }
  if (out.known()) {
    MICA_TRY(const int axis, normalize_axis(scope.attributes<Interleave>().axis, out.rank));
    out[axis] = scope.dims().mul(out[axis], parts);
  }
  scope.out(0, scope.dtype(0), out);
  return {};
}

Status reference(RunScope& scope) {
  const int parts = static_cast<int>(scope.inputs.size());
  Shape shape = scope.in(0).to_shape();
  MICA_TRY(const int axis, normalize_axis(scope.attributes<Interleave>().axis, shape.rank));
  for (int i = 1; i < parts; ++i)
    MICA_CHECK(std::ranges::equal(scope.in(i).shape(), scope.in(0).shape()), kBadShape,
               "inputs of interleave have different shapes");
  shape[axis] = scope.in(0).dim(axis) * parts;
  DimTable dims;
  MICA_TRY_STATUS(allocate_output(scope, 0, shape, dims));
  MICA_TRY(const TensorView to, wide_output(scope, 0));
  for (int i = 0; i < parts; ++i) {
    MICA_TRY(const TensorView from, wide_input(scope, i));
    if (from.empty()) continue;
    TensorView part = slice_axis(to, axis, i, 1);
    part.dims[static_cast<size_t>(axis)] = from.dim(axis);
    part.strides[static_cast<size_t>(axis)] *= parts;
    copy_elements(from, part);
  }
  finish_output(scope, 0, to);
  return {};
}

}  // namespace

MICA_OP(interleave) = {.name = "interleave",
                       .doc =
                           "The inputs, of one shape, in turn along `axis`: element i·inputs + j is element i of "
                           "input j. A channel shuffle is that of the parts of a split",
                       .inputs = {1, kAnyNumber},
                       .attributes = attr_class<Interleave>(),
                       .infer = infer,
                       .reference = reference,
                       .flops = [](const CostScope&) -> int64_t { return 0; },
                       .dim_rule = DimRule::kMove,
                       .layout = LayoutRule::kAny};

}  // namespace mica
