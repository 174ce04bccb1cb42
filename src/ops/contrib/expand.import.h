// Words for importers that spell a source operator out in standard ones. All need the rank of what they turn or cut;
// sizes may be symbols.
#pragma once
#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

#include "ir/spelling.h"
#include "ops/index/axis.h"
#include "ops/move/concat.h"
#include "ops/move/reshape.h"
#include "ops/move/shape.h"
#include "ops/move/split.h"
#include "ops/move/transpose.h"
#include "ops/pointwise/cast.h"
#include "ops/pointwise/pointwise_op.h"

namespace mica {
MICA_DECLARE_OP(add);
MICA_DECLARE_OP(cast);
MICA_DECLARE_OP(concat);
MICA_DECLARE_OP(expand);
MICA_DECLARE_OP(gather);
MICA_DECLARE_OP(mul);
MICA_DECLARE_OP(range);
MICA_DECLARE_OP(reshape);
MICA_DECLARE_OP(shape);
MICA_DECLARE_OP(slice);
MICA_DECLARE_OP(split);
MICA_DECLARE_OP(sub);
MICA_DECLARE_OP(transpose);
MICA_DECLARE_OP(unsqueeze);
}  // namespace mica

namespace mica::expand {

inline int rank_of(const Value* x, std::string_view what) {
  const int rank = x->type.shape.rank;
  if (!x->type.shape.known()) fail(Code::kUnsupportedOperator, "the rank of {} is not known", what);
  return rank;
}
inline void require_rank(const Value* x, int low, int high, std::string_view what) {
  const int rank = rank_of(x, what);
  if (rank < low || rank > high) fail(Code::kBadRank, "{} has {} dimensions, expected {} to {}", what, rank, low, high);
}

inline Value* list(Builder& build, std::initializer_list<int64_t> numbers) {
  return build.ints(std::span(numbers.begin(), numbers.size()));
}
// Of `dims`, 0 stands for the size that the axis has, -1 for what is left.
inline Value* reshape(Builder& build, Value* x, std::initializer_list<int64_t> dims) {
  return build.one(op_reshape, Reshape{}, {x, list(build, dims)});
}
inline Value* unsqueeze(Builder& build, Value* x, std::initializer_list<int64_t> axes) {
  return build.one(op_unsqueeze, {x, list(build, axes)});
}
inline Value* transpose(Builder& build, Value* x, const Ints& perm) {
  return build.one(op_transpose, Transpose{.perm = perm}, {x});
}
inline Value* cast(Builder& build, Value* x, DType to) {
  return x->type.dtype == to ? x : build.one(op_cast, Cast{.to = to}, {x});
}
inline Value* concat(Builder& build, Values parts, int64_t axis) {
  return parts.size() == 1 ? parts[0] : build.one(op_concat, Concat{.axis = axis}, std::move(parts));
}
inline Values split(Builder& build, Value* x, int64_t axis, std::span<const int64_t> sizes) {
  const auto parts = static_cast<int64_t>(sizes.size());
  return build.add(op_split, Split{.axis = axis, .parts = parts}, {x, build.ints(sizes)}, static_cast<int>(parts));
}
// Slice `index` of an axis, which goes.
inline Value* take(Builder& build, Value* x, int64_t axis, int64_t index) {
  return build.one(op_gather, IndexAxis{.axis = axis}, {x, build.scalar(DType::kI64, static_cast<double>(index))});
}
// The elements from `begin` to before `end` (lists of one number) along an axis.
inline Value* slice(Builder& build, Value* x, int64_t axis, Value* begin, Value* end) {
  return build.one(op_slice, {x, begin, end, list(build, {axis})});
}
// The size of an axis (not counted from the end) as a list of one number.
inline Value* size_of(Builder& build, Value* x, int64_t axis) {
  return build.one(op_shape, ShapeOf{.start = axis, .end = axis + 1}, {x});
}
// 0, 1, … before `count`, a list of one number.
inline Value* iota(Builder& build, Value* count) {
  Value* end = build.one(op_reshape, Reshape{}, {count, build.ints({})});
  return build.one(op_range, {build.scalar(DType::kI64, 0), end, build.scalar(DType::kI64, 1)});
}
inline Value* sum(Builder& build, Value* x, Value* summand) { return summand ? build.one(op_add, {x, summand}) : x; }
inline Value* times(Builder& build, Value* x, double factor) {
  return factor == 1 ? x : build.one(op_mul, {x, build.scalar(x->type.dtype, factor)});
}

// From [N,...,C] to [N,C,...] and back.
inline Value* channels_first(Builder& build, Value* x) {
  const int rank = rank_of(x, "an operand with channels last");
  Ints perm{0, rank - 1};
  for (int i = 1; i + 1 < rank; ++i) perm.push(i);
  return rank < 3 ? x : transpose(build, x, perm);
}
inline Value* channels_last(Builder& build, Value* x) {
  const int rank = rank_of(x, "an operand with channels first");
  Ints perm{0};
  for (int i = 2; i < rank; ++i) perm.push(i);
  perm.push(1);
  return rank < 3 ? x : transpose(build, x, perm);
}

// The outputs that a source names, of a node made for all of them; the others are left out.
inline Values hide_unwanted(const SourceNode& node, Values made) {
  Node* producer = made[0]->producer;
  for (size_t i = 0; i < made.size(); ++i)
    if (!node.wants(i)) producer->outputs[i] = nullptr;
  return made;
}
// Refuses outputs `names[i]`, named by the source and not made here.
inline void refuse_output(const SourceNode& node, size_t output, std::string_view what) {
  if (node.wants(output)) fail(Code::kUnsupportedOperator, "output {} ({}) is not supported", output, what);
}

}  // namespace mica::expand
