#include "ops/move/reverse_sequence.h"

#include "types/operand.h"

namespace mica {
namespace {

Status infer(InferScope& scope) {
  MICA_TRY_STATUS(require_rank(scope, 0, 2, kMaxRank));
  MICA_TRY_STATUS(require_rank(scope, 1, 1, 1));
  return infer_same(scope);
}

Status reference(RunScope& scope) {
  const auto& attributes = scope.attributes<ReverseSequence>();
  MICA_TRY(const TensorView in, wide_input(scope, 0));
  MICA_TRY(const int batch, normalize_axis(attributes.batch_axis, in.rank, "batch_axis"));
  MICA_TRY(const int time, normalize_axis(attributes.time_axis, in.rank, "time_axis"));
  MICA_CHECK(batch != time, kBadAttribute, "batch and time axis are both {}", batch);
  const TensorView& lengths = scope.in(1);
  MICA_CHECK(lengths.rank == 1 && lengths.dim(0) == in.dim(batch) && is_integer(lengths.dtype), kBadShape,
             "reverse_sequence needs {} lengths", in.dim(batch));
  MICA_TRY_STATUS(scope.allocate_output(0, in.shape()));
  MICA_TRY(const TensorView out, wide_output(scope, 0));
  const Elements list(lengths);
  for (int64_t b = 0; b < in.dim(batch); ++b) {
    const int64_t length = list.integer(b), all = in.dim(time);
    MICA_CHECK(length >= 0 && length <= all, kBadValue, "sequence length {} of {} elements", length, all);
    const TensorView from = slice_axis(in, batch, b, 1), to = slice_axis(out, batch, b, 1);
    copy_elements(slice_axis(from, time, length - 1, length, -1), slice_axis(to, time, 0, length));
    copy_elements(slice_axis(from, time, length, all - length), slice_axis(to, time, length, all - length));
  }
  finish_output(scope, 0, out);
  return {};
}

}  // namespace

MICA_OP(reverse_sequence) = {
    .name = "reverse_sequence",
    .doc = "The first lengths[b] elements of each sequence b in reverse order, the rest as they are",
    .inputs = {2, 2},
    .attributes = attr_class<ReverseSequence>(),
    .infer = infer,
    .reference = reference};

}  // namespace mica
