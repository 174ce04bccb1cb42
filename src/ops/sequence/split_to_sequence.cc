#include "ops/sequence/split_to_sequence.h"

#include "ops/sequence/sequence.h"

namespace mica {
namespace {

Status infer(InferScope& scope) {
  const auto& attributes = scope.attributes<SplitToSequence>();
  Shape shape = scope.shape(0);
  if (shape.known()) {
    MICA_TRY(const int axis, normalize_axis(attributes.axis, shape.rank));
    std::span<const Dim> sizes;
    Dim part = scope.has(1) ? scope.dims().fresh("part") : Dim(1);
    if (scope.has(1) && scope.known_dims(1, sizes) && !sizes.empty() &&
        std::ranges::all_of(sizes, [&](Dim d) { return d == sizes[0]; })) {
      const bool even =
          scope.shape(1).rank == 1 || (shape[axis].is_fixed() && sizes[0].is_fixed() && sizes[0].value() > 0 &&
                                       shape[axis].value() % sizes[0].value() == 0);
      if (even) part = sizes[0];
    }
    shape[axis] = part;
    if (!scope.has(1) && !attributes.keepdims) {
      Shape less = Shape::of_rank(0);
      for (int i = 0; i < shape.rank; ++i)
        if (i != axis) less.push(shape[i]);
      shape = less;
    }
  }
  scope.out(0, Type::sequence(scope.dtype(0), shape));
  return {};
}

// Appends a part along the axis as one item, without the axis unless `keep`.
Status append_part(Object& out, TensorView part, int axis, bool keep) {
  if (!keep) {
    for (int i = axis; i + 1 < part.rank; ++i) {
      part.dims[static_cast<size_t>(i)] = part.dims[static_cast<size_t>(i + 1)];
      part.strides[static_cast<size_t>(i)] = part.strides[static_cast<size_t>(i + 1)];
    }
    --part.rank;
  }
  MICA_TRY(OwnedTensor item, OwnedTensor::copy_of(part));
  return out.tensors.push_back(std::move(item));
}

Status reference(RunScope& scope) {
  const auto& attributes = scope.attributes<SplitToSequence>();
  const TensorView& in = scope.in(0);
  MICA_CHECK(!is_sub_byte(in.dtype), kBadType, "split_to_sequence of {}", name_of(in.dtype));
  MICA_TRY(const int axis, normalize_axis(attributes.axis, in.rank));
  const int64_t whole = in.dim(axis);
  Object out;
  out.dtype = in.dtype;
  if (!scope.has(1) || scope.in(1).rank == 0) {
    int64_t size = 1;
    if (scope.has(1)) {
      MICA_TRY(size, read_int(scope.in(1), "split"));
    }
    MICA_CHECK(size > 0, kBadValue, "parts of {} elements", size);
    for (int64_t at = 0; at < whole; at += std::min(size, whole - at))
      MICA_TRY_STATUS(append_part(out, slice_axis(in, axis, at, std::min(size, whole - at)), axis,
                                  scope.has(1) || attributes.keepdims));
  } else {
    MICA_CHECK(scope.in(1).rank == 1 && is_integer(scope.in(1).dtype), kBadShape,
               "split must be one size or a list of sizes");
    int64_t at = 0;
    for (int64_t i = 0; i < scope.in(1).count(); ++i) {
      const int64_t size = Elements(scope.in(1)).integer(i);
      MICA_CHECK(size >= 0 && size <= whole - at, kBadValue, "part {} of {} elements does not fit into an axis of {}",
                 i, size, whole);
      MICA_TRY_STATUS(append_part(out, slice_axis(in, axis, at, size), axis, true));
      at += size;
    }
    MICA_CHECK(at == whole, kBadValue, "parts of {} elements do not add up to the axis's {}", at, whole);
  }
  scope.out_object(0) = std::move(out);
  return {};
}

}  // namespace

MICA_OP(split_to_sequence) = {
    .name = "split_to_sequence",
    .doc = "Consecutive parts of an axis as a sequence: of one size, of listed sizes, or single elements",
    .inputs = {1, 2},
    .attributes = attr_class<SplitToSequence>(),
    .infer = infer,
    .reference = reference};

}  // namespace mica
