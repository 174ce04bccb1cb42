// Shared by operators on sequences and optionals.
#pragma once
#include <algorithm>

#include "types/operand.h"

namespace mica::sequence {

inline Status require_sequence(const InferScope& scope, int input) {
  MICA_CHECK(scope.type(input).kind == Kind::kSequence, kBadType, "input {} must be a sequence", input);
  return {};
}
inline Result<const Object*> object_of(const RunScope& scope, int input) {
  const Object* object = scope.has(input) ? scope.inputs[static_cast<size_t>(input)].object : nullptr;
  MICA_CHECK(object, kBadType, "input {} must be a sequence or an optional", input);
  return object;
}
inline Result<const Object*> sequence_of(const RunScope& scope, int input) {
  MICA_TRY(const Object* object, object_of(scope, input));
  MICA_CHECK(object->kind == Kind::kSequence && object->objects.empty(), kBadType,
             "input {} must be a sequence of tensors", input);
  return object;
}
// The shape that covers both: dims that differ become unknown, ranks that differ an unknown rank.
inline Shape cover(const Shape& a, const Shape& b, DimTable& dims) {
  if (!a.known() || !b.known() || a.rank != b.rank) return Shape();
  Shape out = a;
  for (int i = 0; i < a.rank; ++i)
    if (a[i] != b[i]) out[i] = dims.fresh("item");
  return out;
}
// A type of one item of a sequence: each item has dims of its own.
inline Shape item_shape(Shape shape, DimTable& dims) {
  for (int i = 0; i < shape.rank; ++i)
    if (dims.depends_on(shape[i], SymbolKind::kData)) shape[i] = dims.fresh("item");
  return shape;
}

}  // namespace mica::sequence
