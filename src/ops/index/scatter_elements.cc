#include "ops/index/scatter.h"

namespace mica {
namespace {

Status infer(InferScope& scope) {
  MICA_TRY_STATUS(require_indices(scope, 1));
  MICA_TRY_STATUS(require_same_dtype(scope, 0, 2));
  MICA_TRY_STATUS(check_reduction(scope.attributes<Scatter>().reduction, scope.dtype(0)));
  if (scope.shape(0).known()) MICA_TRY_STATUS(normalize_axis(scope.attributes<Scatter>().axis, scope.shape(0).rank));
  return infer_same(scope);
}

Status reference(RunScope& scope) {
  const auto& attributes = scope.attributes<Scatter>();
  const TensorView& indices = scope.in(1);
  MICA_TRY(const TensorView data, wide_input(scope, 0));
  MICA_TRY(const TensorView updates, wide_input(scope, 2));
  MICA_TRY(const int axis, normalize_axis(attributes.axis, data.rank));
  MICA_CHECK(indices.rank == data.rank && updates.rank == data.rank, kBadRank,
             "data has rank {}, indices {}, updates {}", data.rank, indices.rank, updates.rank);
  for (int i = 0; i < data.rank; ++i) {
    MICA_CHECK(i == axis || indices.dim(i) <= data.dim(i), kBadShape,
               "dimension {} of the indices is {}, of the data {}", i, indices.dim(i), data.dim(i));
    MICA_CHECK(updates.dim(i) >= indices.dim(i), kBadShape, "dimension {} of the updates is {}, of the indices {}", i,
               updates.dim(i), indices.dim(i));
  }
  MICA_TRY_STATUS(scope.allocate_output(0, data.shape()));
  MICA_TRY(const TensorView out, wide_output(scope, 0));
  copy_elements(data, out);
  int64_t at[kMaxRank] = {};
  if (!indices.empty()) do {
      MICA_TRY(const int64_t index,
               checked_index(load_int(indices.dtype, element_at(indices, at)), data.dim(axis), "index"));
      scatter_one(attributes.reduction, out.dtype, element_at(out, at) + (index - at[axis]) * out.stride(axis),
                  element_at(updates, at));
    } while (next_index(at, indices.shape()));
  finish_output(scope, 0, out);
  return {};
}

}  // namespace

MICA_OP(scatter_elements) = {
    .name = "scatter_elements",
    .doc = "The data with elements of the updates stored at places whose coordinate along `axis` is the index",
    .inputs = {3, 3},
    .attributes = attr_class<Scatter>(),
    .infer = infer,
    .reference = reference,
    .dim_rule = DimRule::kMove};

}  // namespace mica
