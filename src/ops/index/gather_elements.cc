#include <cstring>

#include "ops/index/axis.h"

namespace mica {
namespace {

Status infer(InferScope& scope) {
  MICA_TRY_STATUS(require_indices(scope, 1));
  const Shape &data = scope.shape(0), &indices = scope.shape(1);
  MICA_CHECK(!data.known() || !indices.known() || data.rank == indices.rank, kBadRank, "data has rank {}, indices {}",
             data.rank, indices.rank);
  if (data.known()) MICA_TRY_STATUS(normalize_axis(scope.attributes<IndexAxis>().axis, data.rank));
  scope.out(0, scope.dtype(0), indices);
  return {};
}

Status reference(RunScope& scope) {
  const TensorView& indices = scope.in(1);
  MICA_TRY(const TensorView data, wide_input(scope, 0));
  MICA_TRY(const int axis, normalize_axis(scope.attributes<IndexAxis>().axis, data.rank));
  MICA_CHECK(indices.rank == data.rank, kBadRank, "data has rank {}, indices {}", data.rank, indices.rank);
  for (int i = 0; i < data.rank; ++i)
    MICA_CHECK(i == axis || indices.dim(i) <= data.dim(i), kBadShape,
               "dimension {} of the indices is {}, of the data {}", i, indices.dim(i), data.dim(i));
  MICA_TRY_STATUS(scope.allocate_output(0, indices.shape()));
  MICA_TRY(const TensorView out, wide_output(scope, 0));
  const auto bytes = static_cast<size_t>(element_bytes(out.dtype));
  int64_t at[kMaxRank] = {};
  if (!out.empty()) do {
      MICA_TRY(const int64_t index,
               checked_index(load_int(indices.dtype, element_at(indices, at)), data.dim(axis), "index"));
      const char* from = element_at(data, at) + (index - at[axis]) * data.stride(axis);
      std::memcpy(element_at(out, at), from, bytes);
    } while (next_index(at, out.shape()));
  finish_output(scope, 0, out);
  return {};
}

}  // namespace

MICA_OP(gather_elements) = {.name = "gather_elements",
                            .doc = "Element by element: the data's element whose place along `axis` is the index",
                            .inputs = {2, 2},
                            .attributes = attr_class<IndexAxis>(),
                            .infer = infer,
                            .reference = reference,
                            .flops = [](const CostScope&) -> int64_t { return 0; },
                            .dim_rule = DimRule::kMove};

}  // namespace mica
