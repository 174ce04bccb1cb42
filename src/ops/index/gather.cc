#include "ops/index/axis.h"

namespace mica {
namespace {

Result<Shape> gathered(const Shape& data, const Shape& indices, int axis) {
  MICA_CHECK(data.rank - 1 + indices.rank <= kMaxRank, kLimit, "a tensor of rank {}; at most {} are supported",
             data.rank - 1 + indices.rank, kMaxRank);
  Shape out = Shape::of_rank(0);
  for (int i = 0; i < axis; ++i) out.push(data[i]);
  for (int i = 0; i < indices.rank; ++i) out.push(indices[i]);
  for (int i = axis + 1; i < data.rank; ++i) out.push(data[i]);
  return out;
}

Status infer(InferScope& scope) {
  MICA_TRY_STATUS(require_indices(scope, 1));
  Shape out;
  if (scope.shape(0).known()) {
    MICA_TRY(const int axis, normalize_axis(scope.attributes<IndexAxis>().axis, scope.shape(0).rank));
    if (scope.shape(1).known()) {
      MICA_TRY(out, gathered(scope.shape(0), scope.shape(1), axis));
    }
  }
  scope.out(0, scope.dtype(0), out);
  return {};
}

Status reference(RunScope& scope) {
  const TensorView& indices = scope.in(1);
  MICA_TRY(const TensorView data, wide_input(scope, 0));
  MICA_TRY(const int axis, normalize_axis(scope.attributes<IndexAxis>().axis, data.rank));
  MICA_TRY(const Shape shape, gathered(data.to_shape(), indices.to_shape(), axis));
  MICA_TRY_STATUS(allocate_output(scope, 0, shape, DimTable()));
  MICA_TRY(const TensorView out, wide_output(scope, 0));
  const Elements list(indices);
  // A slice of the output for each index: its axes are those of the data beside the gathered one.
  TensorView to = out, from = data;
  to.rank = from.rank = data.rank - 1;
  for (int i = 0, k = 0; i < data.rank; ++i) {
    if (i == axis) continue;
    const auto a = static_cast<size_t>(i), b = static_cast<size_t>(k++),
               c = static_cast<size_t>(i < axis ? i : i - 1 + indices.rank);
    from.dims[b] = data.dims[a];
    from.strides[b] = data.strides[a];
    to.dims[b] = data.dims[a];
    to.strides[b] = out.strides[c];
  }
  int64_t at[kMaxRank] = {};
  for (int64_t i = 0, count = indices.count(); i < count; ++i, next_index(at, indices.shape())) {
    MICA_TRY(const int64_t index, checked_index(list.integer(i), data.dim(axis), "index"));
    from.data = static_cast<char*>(data.data) + index * data.stride(axis);
    char* target = static_cast<char*>(out.data);
    for (int k = 0; k < indices.rank; ++k) target += at[k] * out.stride(axis + k);
    to.data = target;
    copy_elements(from, to);
  }
  finish_output(scope, 0, out);
  return {};
}

}  // namespace

MICA_OP(gather) = {.name = "gather",
                   .doc = "Slices of input 0 along `axis`, in the order and shape of the indices in input 1",
                   .inputs = {2, 2},
                   .attributes = attr_class<IndexAxis>(),
                   .infer = infer,
                   .reference = reference,
                   .flops = [](const CostScope&) -> int64_t { return 0; },
                   .dim_rule = DimRule::kMove};

}  // namespace mica
