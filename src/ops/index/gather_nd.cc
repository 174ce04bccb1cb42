#include "ops/index/gather_nd.h"
#include "ops/index/axis.h"

namespace mica {
namespace {

// indices.shape[:-1] + data.shape[batch + length of an index tuple:]
Result<Shape> gathered(const Shape& data, const Shape& indices, int64_t batch) {
  MICA_CHECK(data.rank >= 1 && indices.rank >= 1, kBadRank, "data has rank {}, indices {}; both need 1 or more",
             data.rank, indices.rank);
  MICA_CHECK(batch >= 0 && batch < data.rank && batch < indices.rank, kBadAttribute,
             "batch_dims {} with data of rank {} and indices of rank {}", batch, data.rank, indices.rank);
  const Dim tuple = indices.back();
  MICA_CHECK(tuple.is_fixed() && tuple.value() >= 0 && tuple.value() <= data.rank - batch, kBadShape,
             "index tuples of {} for rank {}", tuple.is_fixed() ? tuple.value() : -1, data.rank - batch);
  const int first = static_cast<int>(batch + tuple.value());
  MICA_CHECK(indices.rank - 1 + data.rank - first <= kMaxRank, kLimit, "a tensor of rank {}",
             indices.rank - 1 + data.rank - first);
  Shape out = Shape::of_rank(0);
  for (int i = 0; i + 1 < indices.rank; ++i) {
    out.push(indices[i]);
    if (i < batch) {
      MICA_TRY(out[i], same_dim(data[i], indices[i], "batch dims of data and indices"));
    }
  }
  for (int i = first; i < data.rank; ++i) out.push(data[i]);
  return out;
}

Status infer(InferScope& scope) {
  MICA_TRY_STATUS(require_indices(scope, 1));
  Shape out;
  const Shape &data = scope.shape(0), &indices = scope.shape(1);
  if (data.known() && indices.known() && (indices.rank == 0 || indices.back().is_fixed())) {
    MICA_TRY(out, gathered(data, indices, scope.attributes<GatherNd>().batch_dims));
  }
  scope.out(0, scope.dtype(0), out);
  return {};
}

Status reference(RunScope& scope) {
  const TensorView& indices = scope.in(1);
  MICA_TRY(const TensorView data, wide_input(scope, 0));
  const auto batch = static_cast<int>(scope.attributes<GatherNd>().batch_dims);
  MICA_TRY(const Shape shape, gathered(data.to_shape(), indices.to_shape(), batch));
  MICA_TRY_STATUS(allocate_output(scope, 0, shape, DimTable()));
  MICA_TRY(const TensorView out, wide_output(scope, 0));
  const int tuple = static_cast<int>(indices.dim(indices.rank - 1)), outer = indices.rank - 1;
  TensorView from = data, to = out;  // the slice that an index tuple chooses, and its place
  from.rank = to.rank = data.rank - batch - tuple;
  for (int i = 0; i < from.rank; ++i) {
    const auto a = static_cast<size_t>(i), b = static_cast<size_t>(batch + tuple + i),
               c = static_cast<size_t>(outer + i);
    from.dims[a] = to.dims[a] = data.dims[b];
    from.strides[a] = data.strides[b];
    to.strides[a] = out.strides[c];
  }
  int64_t at[kMaxRank] = {};
  const std::span<const int64_t> outer_dims = indices.shape().first(static_cast<size_t>(outer));
  if (out.empty()) return {};
  do {
    char *source = static_cast<char*>(data.data), *target = static_cast<char*>(out.data);
    for (int i = 0; i < outer; ++i) target += at[i] * out.stride(i);
    for (int i = 0; i < batch; ++i) source += at[i] * data.stride(i);
    for (int k = 0; k < tuple; ++k) {
      at[outer] = k;
      MICA_TRY(const int64_t index,
               checked_index(load_int(indices.dtype, element_at(indices, at)), data.dim(batch + k), "index"));
      source += index * data.stride(batch + k);
    }
    at[outer] = 0;
    from.data = source;
    to.data = target;
    copy_elements(from, to);
  } while (next_index(at, outer_dims));
  finish_output(scope, 0, out);
  return {};
}

}  // namespace

MICA_OP(gather_nd) = {.name = "gather_nd",
                      .doc = "Slices of the data, each chosen by an index tuple on the last axis of input 1",
                      .inputs = {2, 2},
                      .attributes = attr_class<GatherNd>(),
                      .infer = infer,
                      .reference = reference,
                      .flops = [](const CostScope&) -> int64_t { return 0; },
                      .dim_rule = DimRule::kMove};

}  // namespace mica
