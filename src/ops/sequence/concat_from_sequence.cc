#include "ops/sequence/concat_from_sequence.h"

#include "ops/sequence/sequence.h"

namespace mica {
namespace {

Shape insert_axis(const Shape& shape, int axis) {
  Shape out = Shape::of_rank(0);
  for (int i = 0; i <= shape.rank; ++i) {
    if (i == axis) out.push(1);
    if (i < shape.rank) out.push(shape[i]);
  }
  return out;
}

Status infer(InferScope& scope) {
  MICA_TRY_STATUS(sequence::require_sequence(scope, 0));
  const auto& attributes = scope.attributes<ConcatFromSequence>();
  Shape shape = scope.shape(0);
  if (shape.known()) {
    MICA_CHECK(shape.rank < kMaxRank, kLimit, "a tensor of rank {}", shape.rank + 1);
    MICA_TRY(const int axis, normalize_axis(attributes.axis, shape.rank + (attributes.new_axis ? 1 : 0)));
    if (attributes.new_axis) shape = insert_axis(shape, axis);
    shape[axis] = scope.dims().fresh("items");
  }
  scope.out(0, scope.dtype(0), shape);
  return {};
}

Status reference(RunScope& scope) {
  const auto& attributes = scope.attributes<ConcatFromSequence>();
  MICA_TRY(const Object* list, sequence::sequence_of(scope, 0));
  MICA_CHECK(!list->tensors.empty(), kBadValue, "an empty sequence has nothing to concatenate");
  Shape shape;
  int axis = 0;
  DimTable dims;
  for (const OwnedTensor& item : list->tensors) {
    Shape next = item.view().to_shape();
    MICA_CHECK(next.rank < kMaxRank, kLimit, "a tensor of rank {}", next.rank + 1);
    MICA_TRY(axis, normalize_axis(attributes.axis, next.rank + (attributes.new_axis ? 1 : 0)));
    if (attributes.new_axis) next = insert_axis(next, axis);
    if (!shape.known()) {
      shape = next;
      continue;
    }
    MICA_CHECK(next.rank == shape.rank, kBadRank, "items have ranks {} and {}", shape.rank, next.rank);
    for (int i = 0; i < shape.rank; ++i)
      MICA_CHECK(i == axis || next[i] == shape[i], kBadShape, "items have {} and {} elements on axis {}",
                 shape[i].value(), next[i].value(), i);
    shape[axis] = dims.add(shape[axis], next[axis]);
  }
  MICA_TRY_STATUS(allocate_output(scope, 0, shape, dims));
  MICA_TRY(const TensorView to, wide_output(scope, 0));
  int64_t at = 0;
  for (const OwnedTensor& item : list->tensors) {
    const int64_t length = attributes.new_axis ? 1 : item.view().dim(axis);
    TensorView part = slice_axis(to, axis, at, length);
    at += length;
    for (int i = axis; attributes.new_axis && i + 1 < part.rank; ++i) {
      part.dims[static_cast<size_t>(i)] = part.dims[static_cast<size_t>(i + 1)];
      part.strides[static_cast<size_t>(i)] = part.strides[static_cast<size_t>(i + 1)];
    }
    if (attributes.new_axis) --part.rank;
    MICA_TRY_STATUS(copy_kept(scope, item.view(), part));
  }
  finish_output(scope, 0, to);
  return {};
}

}  // namespace

MICA_OP(concat_from_sequence) = {
    .name = "concat_from_sequence",
    .doc = "The items of a sequence one after the other along an axis, or stacked along a new one",
    .attributes = attr_class<ConcatFromSequence>(),
    .infer = infer,
    .reference = reference,
    .takes_objects = true};

}  // namespace mica
