#include "ops/move/reshape.h"

#include "ops/move/view.h"

namespace mica {
namespace {

// What `target` means for an input of shape `in`: 0 takes the input's dim, one -1 what is left. Dims that are taken
// over cancel, so that [0, -1] works for an empty or a symbolic one.
Result<Shape> resolve(const Shape& in, const Shape& target, bool allow_zero, DimTable& dims) {
  Shape out = target;
  int open = -1;
  Dim known = 1, total = 1;
  bool taken[kMaxRank] = {};
  for (int i = 0; i < out.rank; ++i) {
    if (out[i].is(-1)) {
      MICA_CHECK(open < 0, kBadShape,
                 "a shape to reshape to has -1 at {} and {}; at most one dimension can be inferred", open, i);
      open = i;
      continue;
    }
    if (out[i].is(0) && !allow_zero) {
      MICA_CHECK(!in.known() || i < in.rank, kBadShape,
                 "the shape has 0 (the input's own) at {}, but the input has rank {}", i, in.rank);
      out[i] = in.known() ? in[i] : dims.fresh("reshape");
    }
    MICA_CHECK(!out[i].is_fixed() || out[i].value() >= 0, kBadShape, "dimension {} to reshape to is {}", i,
               out[i].value());
    if (in.known() && i < in.rank && in[i] == out[i])
      taken[i] = true;
    else
      known = dims.mul(known, out[i]);
  }
  if (!in.known()) {
    if (open >= 0) out[open] = dims.fresh("reshape");
    return out;
  }
  for (int i = 0; i < in.rank; ++i)
    if (!taken[i]) total = dims.mul(total, in[i]);
  const bool fixed = total.is_fixed() && known.is_fixed();
  if (open >= 0) {
    MICA_CHECK(!known.is(0), kBadShape, "the dimension -1 cannot be inferred beside a dimension of 0");
    MICA_CHECK(!fixed || total.value() % known.value() == 0, kBadShape, "{} elements do not divide into groups of {}",
               total.value(), known.value());
    out[open] = dims.floor_div(total, known);
  } else {
    bool empty = false;  // a 0 that is taken over makes both sides 0
    for (int i = 0; i < out.rank; ++i) empty = empty || (taken[i] && out[i].is(0));
    MICA_CHECK(!fixed || empty || total == known, kBadShape, "{} elements cannot be reshaped to {}", total.value(),
               known.value());
  }
  return out;
}

Status infer(InferScope& scope) {
  MICA_TRY(Shape target, shape_operand(scope, 1, "reshape"));
  if (!target.known()) {
    scope.out(0, scope.dtype(0), Shape());
    return {};
  }
  std::span<const Dim> list;
  if (scope.known_dims(1, list)) {
    MICA_TRY(target, resolve(scope.shape(0), target, scope.attributes<Reshape>().allow_zero, scope.dims()));
  }
  scope.out(0, scope.dtype(0), target);
  return {};
}

Status reference(RunScope& scope) {
  MICA_TRY(const Ints list, read_ints(scope.in(1), "shape"));
  MICA_CHECK(list.size() <= static_cast<size_t>(kMaxRank), kLimit,
             "a shape has {} dimensions; at most {} are supported", list.size(), kMaxRank);
  Shape target = Shape::of_rank(0);
  for (int64_t d : list) target.push(d);
  DimTable dims;
  MICA_TRY(target, resolve(scope.in(0).to_shape(), target, scope.attributes<Reshape>().allow_zero, dims));
  MICA_TRY_STATUS(allocate_output(scope, 0, target, dims));
  return move::copy_reshaped(scope);
}

}  // namespace

MICA_OP(reshape) = {
    .name = "reshape",
    .doc = "The elements in source order under the shape in input 1; -1 is inferred, 0 is the input's own",
    .inputs = {2, 2},
    .attributes = attr_class<Reshape>(),
    .infer = infer,
    .reference = reference,
    .flops = [](const CostScope&) -> int64_t { return 0; },
    .view = move::view_reshaped,
    .dim_rule = DimRule::kMove};

}  // namespace mica
