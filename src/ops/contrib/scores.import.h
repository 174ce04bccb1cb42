// What ai.onnx.ml's classifiers and regressors do with their scores.
#pragma once
#include "ops/contrib/expand.import.h"
#include "ops/reduce/arg_reduce.h"
#include "ops/reduce/reduce.h"
#include "ops/reduce/softmax.h"

namespace mica {
MICA_DECLARE_OP(abs);
MICA_DECLARE_OP(arg_reduce);
MICA_DECLARE_OP(div);
MICA_DECLARE_OP(exp);
MICA_DECLARE_OP(greater);
MICA_DECLARE_OP(log);
MICA_DECLARE_OP(neg);
MICA_DECLARE_OP(reduce);
MICA_DECLARE_OP(sigmoid);
MICA_DECLARE_OP(sign);
MICA_DECLARE_OP(softmax);
MICA_DECLARE_OP(sqrt);
MICA_DECLARE_OP(where);
}  // namespace mica

namespace mica::expand {

enum class PostTransform { kNone, kSoftmax, kLogistic, kSoftmaxZero, kProbit };

inline PostTransform post_transform(const SourceNode& node) {
  constexpr std::string_view kNames[] = {"NONE", "SOFTMAX", "LOGISTIC", "SOFTMAX_ZERO", "PROBIT"};
  const std::string name = node.text("post_transform", "NONE");
  for (size_t i = 0; i < std::size(kNames); ++i)
    if (name == kNames[i]) return static_cast<PostTransform>(i);
  fail(Code::kBadAttribute, "`post_transform` is `{}`", name);
}

inline Value* over_columns(Builder& build, ReduceKind kind, Value* x) {
  return build.one(op_reduce, Reduce{.kind = kind}, {x, list(build, {1})});
}

// Softmax in which scores of 0 stay 0.
inline Value* softmax_zero(Builder& build, Value* x) {
  const auto number = [&](double value) { return build.scalar(x->type.dtype, value); };
  constexpr double kZero = 1e-7;  // what counts as 0
  Value* power = build.one(op_exp, {build.one(op_sub, {x, over_columns(build, ReduceKind::kMax, x)})});
  Value* some = build.one(op_greater, {build.one(op_abs, {x}), number(kZero)});
  Value* kept = build.one(op_where, {some, power, number(0)});
  return build.one(op_div, {kept, over_columns(build, ReduceKind::kSum, kept)});
}

// sqrt(2) · erfinv(2x - 1), with Winitzki's approximation of erfinv ("A handy approximation for the error function and
// its inverse", 2008), as ONNX Runtime has it: the definition names no other.
inline Value* probit(Builder& build, Value* x) {
  const auto number = [&](double value) { return build.scalar(x->type.dtype, value); };
  const auto apply = [&](const OpDef& op, Value* a, Value* b) { return build.one(op, {a, b}); };
  constexpr double kA = 0.147, kPi = 3.14159265358979323846;
  Value* y = apply(op_sub, times(build, x, 2), number(1));
  Value* logarithm = build.one(op_log, {apply(op_mul, apply(op_sub, number(1), y), apply(op_add, number(1), y))});
  Value* v = apply(op_add, number(2 / (kPi * kA)), times(build, logarithm, 0.5));
  Value* inner = build.one(op_sqrt, {apply(op_sub, apply(op_mul, v, v), times(build, logarithm, 1 / kA))});
  Value* root = build.one(op_sqrt, {apply(op_sub, inner, v)});
  return times(build, apply(op_mul, build.one(op_sign, {y}), root), std::sqrt(2.0));
}

inline Value* transformed(Builder& build, Value* scores, PostTransform transform) {
  switch (transform) {
    case PostTransform::kNone: break;
    case PostTransform::kSoftmax: return build.one(op_softmax, Softmax{.axis = 1}, {scores});
    case PostTransform::kLogistic: return build.one(op_sigmoid, {scores});
    case PostTransform::kSoftmaxZero: return softmax_zero(build, scores);
    case PostTransform::kProbit: return probit(build, scores);
  }
  return scores;
}

// Class labels, numbers or texts, as a constant list.
inline Value* labels_of(const SourceNode& node, Builder& build, const char* ints, const char* texts) {
  if (!node.has(texts)) {
    const std::vector<int64_t> numbers = node.ints(ints);
    return build.ints(numbers);
  }
  const std::vector<std::string> list = node.texts(texts);
  node.ignore(ints);
  std::vector<StringRef> refs;
  for (const std::string& text : list) refs.push_back({text.data(), static_cast<int64_t>(text.size())});
  const auto count = static_cast<int64_t>(refs.size());
  return build.constant(DType::kString, std::span(&count, 1), refs.data());
}

// For each row the label of its largest score, of equal ones the first.
inline Value* best_label(Builder& build, Value* labels, Value* scores) {
  Value* best = build.one(op_arg_reduce, ArgReduce{.axis = 1, .keep_dims = false}, {scores});
  return build.one(op_gather, IndexAxis{}, {labels, best});
}
// Label 1 where a column [N, 1] is above `threshold`, else label 0.
inline Value* label_above(Builder& build, Value* labels, Value* column, double threshold) {
  Value* above = build.one(op_greater, {column, build.scalar(column->type.dtype, threshold)});
  return build.one(op_gather, IndexAxis{}, {labels, reshape(build, cast(build, above, DType::kI64), {-1})});
}

// Two columns from the one score s of two classes. `positive`: scores are probabilities.
inline Value* two_columns(Builder& build, Value* s, bool positive, PostTransform transform) {
  if (transform == PostTransform::kProbit) return probit(build, s);
  Value* other = build.one(op_neg, {s});
  if (transform == PostTransform::kLogistic)
    return concat(build, {build.one(op_sigmoid, {other}), build.one(op_sigmoid, {s})}, 1);
  if (positive) other = build.one(op_sub, {build.scalar(s->type.dtype, 1), s});
  return concat(build, {other, s}, 1);
}

}  // namespace mica::expand
