#include "types/operand.h"

namespace mica {
namespace {

Status infer(InferScope& scope) {
  MICA_TRY(const Shape target, shape_operand(scope, 1, "expand"));
  if (!target.known() || !scope.shape(0).known()) {
    scope.out(0, scope.dtype(0), Shape());
    return {};
  }
  MICA_TRY(const Shape out, broadcast(scope.shape(0), target, scope.dims()));
  scope.out(0, scope.dtype(0), out);
  return {};
}

// `in` repeated by strides of 0 to fill `dims`, which it broadcasts to. Sub-byte elements need a last axis that stays.
bool view(const RunScope& scope, const TensorView& in, TensorView& out, int) {
  if (is_sub_byte(in.dtype)) return false;
  const auto dims = scope.out(0).shape();
  const int rank = static_cast<int>(dims.size()), added = rank - in.rank;
  if (added < 0) return false;
  TensorView result = in;
  result.rank = rank;
  for (int i = 0; i < rank; ++i) {
    const bool repeated = i < added || in.dim(i - added) != dims[static_cast<size_t>(i)];
    if (repeated && i >= added && in.dim(i - added) != 1) return false;
    result.dims[static_cast<size_t>(i)] = dims[static_cast<size_t>(i)];
    result.strides[static_cast<size_t>(i)] = repeated ? 0 : in.stride(i - added);
  }
  out = result;
  return true;
}

Status reference(RunScope& scope) {
  MICA_TRY(const Ints list, read_ints(scope.in(1), "shape"));
  MICA_CHECK(list.size() <= static_cast<size_t>(kMaxRank), kLimit,
             "a shape has {} dimensions; at most {} are supported", list.size(), kMaxRank);
  Shape target = Shape::of_rank(0);
  for (int64_t d : list) target.push(d);
  DimTable dims;
  MICA_TRY(const Shape out, broadcast(scope.in(0).to_shape(), target, dims));
  MICA_TRY_STATUS(allocate_output(scope, 0, out, dims));
  MICA_TRY(const TensorView from, wide_input(scope, 0));
  MICA_TRY(const TensorView to, wide_output(scope, 0));
  TensorView repeated;
  MICA_CHECK(view(scope, from, repeated, 0), kBadShape, "the input does not broadcast to the shape");
  copy_elements(repeated, to);
  finish_output(scope, 0, to);
  return {};
}

}  // namespace

MICA_OP(expand) = {.name = "expand",
                   .doc = "Broadcasts input 0 and the shape in input 1 against each other",
                   .inputs = {2, 2},
                   .infer = infer,
                   .reference = reference,
                   .flops = [](const CostScope&) -> int64_t { return 0; },
                   .view = view,
                   .dim_rule = DimRule::kMove};

}  // namespace mica
