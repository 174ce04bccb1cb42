#include "ops/move/one_hot.h"

#include <cmath>
#include <cstring>

#include "types/operand.h"

namespace mica {
namespace {

constexpr double kMostDepth = 1e15;  // exact in double precision

Result<Shape> shape_of(const Shape& indices, int64_t axis_attribute, Dim depth) {
  MICA_CHECK(indices.rank < kMaxRank, kLimit, "a tensor of rank {}", indices.rank + 1);
  MICA_TRY(const int axis, normalize_axis(axis_attribute, indices.rank + 1));
  Shape out = Shape::of_rank(0);
  for (int i = 0; i < axis; ++i) out.push(indices[i]);
  out.push(depth);
  for (int i = axis; i < indices.rank; ++i) out.push(indices[i]);
  return out;
}

Status infer(InferScope& scope) {
  if (!scope.shape(0).known()) {
    scope.out(0, scope.dtype(2), Shape());
    return {};
  }
  double number = 0;
  std::span<const Dim> known;
  Dim depth;
  if (scope.known_dims(1, known) && known.size() == 1) {
    depth = known[0];
  } else if (scope.scalar(1, number)) {
    MICA_CHECK(number >= 0 && number < kMostDepth, kBadValue, "one_hot with depth {}", number);
    depth = static_cast<int64_t>(number);
  } else {
    depth = scope.dims().fresh("depth");
  }
  MICA_CHECK(!depth.is_fixed() || depth.value() >= 0, kBadValue, "one_hot with depth {}", depth.value());
  MICA_TRY(const Shape out, shape_of(scope.shape(0), scope.attributes<OneHot>().axis, depth));
  scope.out(0, scope.dtype(2), out);
  return {};
}

Status reference(RunScope& scope) {
  const TensorView& indices = scope.in(0);
  MICA_TRY(const double depth_number, read_number(scope.in(1), "depth"));
  MICA_CHECK(depth_number >= 0 && depth_number < kMostDepth, kBadValue, "one_hot with depth {}", depth_number);
  const auto depth = static_cast<int64_t>(depth_number);
  MICA_TRY(const TensorView values, wide_input(scope, 2));
  MICA_CHECK(values.rank == 1 && values.dim(0) == 2, kBadShape, "one_hot needs the values [off, on]");
  MICA_TRY(const Shape shape, shape_of(indices.to_shape(), scope.attributes<OneHot>().axis, depth));
  MICA_TRY_STATUS(allocate_output(scope, 0, shape, DimTable()));
  MICA_TRY(const TensorView out, wide_output(scope, 0));
  const int64_t off_at = 0, on_at = 1;
  const char* on = element_at(values, &on_at);
  fill_elements(out, element_at(values, &off_at));
  MICA_TRY(const int axis, normalize_axis(scope.attributes<OneHot>().axis, out.rank));
  const Elements elements(indices);
  int64_t at[kMaxRank] = {};
  for (int64_t i = 0, count = indices.count(); i < count; ++i, next_index(at, indices.shape())) {
    const double number = std::trunc(elements.number(i));
    if (!(number >= static_cast<double>(-depth) && number < static_cast<double>(depth))) continue;
    int64_t to[kMaxRank];
    std::copy(at, at + axis, to);
    to[axis] = static_cast<int64_t>(number) + (number < 0 ? depth : 0);
    std::copy(at + axis, at + indices.rank, to + axis + 1);
    std::memcpy(element_at(out, to), on, static_cast<size_t>(element_bytes(out.dtype)));
  }
  finish_output(scope, 0, out);
  return {};
}

}  // namespace

MICA_OP(one_hot) = {
    .name = "one_hot",
    .doc = "values[1] where an index points along a new axis, values[0] elsewhere; an index outside points nowhere",
    .inputs = {3, 3},
    .attributes = attr_class<OneHot>(),
    .infer = infer,
    .reference = reference};

}  // namespace mica
