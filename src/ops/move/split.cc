#include "ops/move/split.h"

#include "types/operand.h"

namespace mica {
namespace {

// The length of part i of an axis of `whole` elements cut into equal ones.
Dim even_part(Dim whole, int64_t parts, int64_t i, DimTable& dims) {
  const Dim each = dims.ceil_div(whole, parts);
  return i + 1 < parts ? each : dims.sub(whole, dims.mul(each, parts - 1));
}

// An axis may be too short for so many equal parts, also where nobody wants the last one, for which nothing is left.
Status check_last(Dim whole, int64_t parts, DimTable& dims) {
  const Dim last = even_part(whole, parts, parts - 1, dims);
  MICA_CHECK(!last.is_fixed() || last.value() >= 0, kBadShape, "{} elements do not cut into {} parts", whole.value(),
             parts);
  return {};
}

Status infer(InferScope& scope) {
  const auto& attributes = scope.attributes<Split>();
  const Shape& in = scope.shape(0);
  MICA_CHECK(attributes.parts >= 1, kBadAttribute, "split makes {} parts", attributes.parts);
  if (!in.known()) {
    for (int i = 0; i < scope.output_count(); ++i) scope.out(i, scope.dtype(0), Shape());
    return {};
  }
  MICA_TRY(const int axis, normalize_axis(attributes.axis, in.rank));
  std::span<const Dim> sizes;
  const bool known = !scope.has(1) || scope.known_dims(1, sizes);
  MICA_CHECK(!known || !scope.has(1) || sizes.size() == static_cast<size_t>(attributes.parts), kBadShape,
             "split lists {} sizes for {} parts", sizes.size(), attributes.parts);
  Dim sum = 0;
  for (Dim size : sizes) sum = scope.dims().add(sum, size);
  const bool fixed = sum.is_fixed() && in[axis].is_fixed();
  MICA_CHECK(sizes.empty() || !fixed || sum == in[axis], kBadShape,
             "parts of {} elements do not add up to the axis's {}", sum.value(), in[axis].value());
  if (!scope.has(1)) MICA_TRY_STATUS(check_last(in[axis], attributes.parts, scope.dims()));
  for (int i = 0; i < scope.output_count(); ++i) {
    Shape out = in;
    out[axis] = !known         ? scope.dims().fresh("split")
                : scope.has(1) ? sizes[static_cast<size_t>(i)]
                               : even_part(in[axis], attributes.parts, i, scope.dims());
    MICA_CHECK(!out[axis].is_fixed() || out[axis].value() >= 0, kBadShape, "split makes a part of {} elements",
               out[axis].value());
    scope.out(i, scope.dtype(0), out);
  }
  return {};
}

struct Part {
  int64_t begin = 0, length = 0;
};

Result<Part> part_of(const RunScope& scope, const TensorView& in, int axis, int output) {
  const int64_t parts = scope.attributes<Split>().parts, whole = in.dim(axis);
  MICA_CHECK(parts >= 1 && output < parts, kBadAttribute, "split makes {} parts", parts);
  if (!scope.has(1)) {
    DimTable dims;
    MICA_TRY_STATUS(check_last(whole, parts, dims));
    const int64_t each = even_part(whole, parts, 0, dims).value();
    const int64_t length = even_part(whole, parts, output, dims).value();
    return Part{parts == 1 ? 0 : output * each, length};
  }
  const TensorView& sizes = scope.in(1);
  MICA_CHECK(sizes.rank == 1 && sizes.dim(0) == parts && is_integer(sizes.dtype), kBadShape,
             "split needs a list of {} sizes", parts);
  const Elements list(sizes);
  Part part;
  int64_t sum = 0;
  for (int64_t i = 0; i < parts; ++i) {
    const int64_t size = list.integer(i);
    MICA_CHECK(size >= 0 && size <= whole - sum, kBadValue, "part {} of {} elements does not fit into an axis of {}", i,
               size, whole);
    if (i == output) part = {sum, size};
    sum += size;
  }
  MICA_CHECK(sum == whole, kBadValue, "parts of {} elements do not add up to the axis's {}", sum, whole);
  return part;
}

Status reference(RunScope& scope) {
  MICA_TRY(const TensorView in, wide_input(scope, 0));
  MICA_TRY(const int axis, normalize_axis(scope.attributes<Split>().axis, in.rank));
  for (int i = 0; i < static_cast<int>(scope.outputs.size()); ++i) {
    if (!scope.wants(i)) continue;
    MICA_TRY(const Part part, part_of(scope, in, axis, i));
    const TensorView from = slice_axis(in, axis, part.begin, part.length);
    MICA_TRY_STATUS(scope.allocate_output(i, from.shape()));
    MICA_TRY(const TensorView to, wide_output(scope, i));
    copy_elements(from, to);
    finish_output(scope, i, to);
  }
  return {};
}

bool view(const RunScope& scope, const TensorView& in, TensorView& out, int output) {
  if (is_sub_byte(in.dtype) || (scope.has(1) && !scope.in(1).data)) return false;
  const Result<int> axis = normalize_axis(scope.attributes<Split>().axis, in.rank);
  if (!axis.ok()) return false;
  const Result<Part> part = part_of(scope, in, *axis, output);
  if (!part.ok()) return false;
  out = slice_axis(in, *axis, part->begin, part->length);
  return true;
}

}  // namespace

MICA_OP(split) = {.name = "split",
                  .doc = "Consecutive parts of an axis, of the sizes in input 1 or equal",
                  .inputs = {1, 2},
                  .outputs = {1, kAnyNumber},
                  .attributes = attr_class<Split>(),
                  .infer = infer,
                  .reference = reference,
                  .flops = [](const CostScope&) -> int64_t { return 0; },
                  .view = view,
                  .dim_rule = DimRule::kMove,
                  .layout = LayoutRule::kAny};

}  // namespace mica
