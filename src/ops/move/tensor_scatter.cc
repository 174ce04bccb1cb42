#include "ops/move/tensor_scatter.h"

#include "types/operand.h"

namespace mica {
namespace {

Status infer(InferScope& scope) {
  MICA_TRY_STATUS(require_rank(scope, 0, 2, kMaxRank));
  MICA_TRY_STATUS(require_same_dtype(scope, 0, 1));
  return infer_same(scope);
}

Status reference(RunScope& scope) {
  const auto& attributes = scope.attributes<TensorScatter>();
  MICA_TRY(const TensorView past, wide_input(scope, 0));
  MICA_TRY(const TensorView update, wide_input(scope, 1));
  MICA_TRY(const int axis, normalize_axis(attributes.axis, past.rank));
  MICA_CHECK(axis != 0, kBadAttribute, "the sequence axis cannot be the batch axis 0");
  MICA_CHECK(update.rank == past.rank, kBadRank, "a cache of rank {} with an update of rank {}", past.rank,
             update.rank);
  for (int i = 0; i < past.rank; ++i)
    MICA_CHECK(i == axis || update.dim(i) == past.dim(i), kBadShape,
               "dimension {} of the cache is {}, of the update {}", i, past.dim(i), update.dim(i));
  const int64_t room = past.dim(axis), length = update.dim(axis);
  MICA_CHECK(length <= room, kBadShape, "an update of {} does not fit into a cache of {}", length, room);
  MICA_CHECK(
      !scope.has(2) || (scope.in(2).rank == 1 && scope.in(2).dim(0) == past.dim(0) && is_integer(scope.in(2).dtype)),
      kBadShape, "tensor_scatter needs {} write indices", past.dim(0));
  MICA_TRY_STATUS(scope.allocate_output(0, past.shape()));
  MICA_TRY(const TensorView out, wide_output(scope, 0));
  copy_elements(past, out);
  for (int64_t b = 0; b < past.dim(0) && room > 0; ++b) {
    int64_t begin = scope.has(2) ? Elements(scope.in(2)).integer(b) : 0;
    MICA_CHECK(attributes.circular || (begin >= 0 && begin <= room - length), kBadValue,
               "an update of {} at {} does not fit into a cache of {}", length, begin, room);
    if (attributes.circular) begin = (begin % room + room) % room;
    const int64_t first = std::min(length, room - begin);
    const TensorView from = slice_axis(update, 0, b, 1), to = slice_axis(out, 0, b, 1);
    copy_elements(slice_axis(from, axis, 0, first), slice_axis(to, axis, begin, first));
    copy_elements(slice_axis(from, axis, first, length - first), slice_axis(to, axis, 0, length - first));
  }
  finish_output(scope, 0, out);
  return {};
}

}  // namespace

MICA_OP(tensor_scatter) = {.name = "tensor_scatter",
                           .doc = "A cache with an update written at each sample's index along the sequence axis",
                           .inputs = {2, 3},
                           .attributes = attr_class<TensorScatter>(),
                           .infer = infer,
                           .reference = reference};

}  // namespace mica
