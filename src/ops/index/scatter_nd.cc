#include "ops/index/scatter.h"

namespace mica {
namespace {

Status infer(InferScope& scope) {
  MICA_TRY_STATUS(require_indices(scope, 1));
  MICA_TRY_STATUS(require_same_dtype(scope, 0, 2));
  MICA_TRY_STATUS(check_reduction(scope.attributes<ScatterNd>().reduction, scope.dtype(0)));
  return infer_same(scope);
}

// Stores a slice of `from` in `to`.
void scatter_slice(Reduction reduction, const TensorView& from, const TensorView& to) {
  if (reduction == Reduction::kNone) {
    copy_elements(from, to);
    return;
  }
  if (from.empty()) return;
  int64_t at[kMaxRank] = {};
  do scatter_one(reduction, to.dtype, element_at(to, at), element_at(from, at));
  while (next_index(at, from.shape()));
}

Status reference(RunScope& scope) {
  const TensorView& indices = scope.in(1);
  MICA_TRY(const TensorView data, wide_input(scope, 0));
  MICA_TRY(const TensorView updates, wide_input(scope, 2));
  MICA_TRY_STATUS(check_nd_shapes(data, indices, updates));
  MICA_TRY_STATUS(scope.allocate_output(0, data.shape()));
  MICA_TRY(const TensorView out, wide_output(scope, 0));
  copy_elements(data, out);
  const int tuple = static_cast<int>(indices.dim(indices.rank - 1)), outer = indices.rank - 1;
  TensorView from = updates, to = out;
  from.rank = to.rank = data.rank - tuple;
  for (int i = 0; i < from.rank; ++i) {
    const auto a = static_cast<size_t>(i), b = static_cast<size_t>(tuple + i), c = static_cast<size_t>(outer + i);
    from.dims[a] = to.dims[a] = out.dims[b];
    from.strides[a] = updates.strides[c];
    to.strides[a] = out.strides[b];
  }
  const auto outer_dims = indices.shape().first(static_cast<size_t>(outer));
  int64_t at[kMaxRank] = {}, count = 1;
  for (int64_t d : outer_dims) count *= d;
  for (int64_t n = 0; n < count; ++n, next_index(at, outer_dims)) {
    char *source = static_cast<char*>(updates.data), *target = static_cast<char*>(out.data);
    for (int i = 0; i < outer; ++i) source += at[i] * updates.stride(i);
    for (int k = 0; k < tuple; ++k) {
      at[outer] = k;
      MICA_TRY(const int64_t index,
               checked_index(load_int(indices.dtype, element_at(indices, at)), out.dim(k), "index"));
      target += index * out.stride(k);
    }
    at[outer] = 0;
    from.data = source;
    to.data = target;
    scatter_slice(scope.attributes<ScatterNd>().reduction, from, to);
  }
  finish_output(scope, 0, out);
  return {};
}

}  // namespace

MICA_OP(scatter_nd) = {.name = "scatter_nd",
                       .doc = "The data with slices of the updates stored where the index tuples point",
                       .inputs = {3, 3},
                       .attributes = attr_class<ScatterNd>(),
                       .infer = infer,
                       .reference = reference,
                       .dim_rule = DimRule::kMove,
                       .in_place = true};

}  // namespace mica
