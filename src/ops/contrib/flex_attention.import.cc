// ai.onnx.preview's FlexAttention: attention with graphs of the model's own over the scores and over the probabilities.
// Without such graphs it is attention; with them it is spelled out, the graphs as branches that are always taken.
#include "ops/attention/attention.h"
#include "ops/contrib/expand.import.h"
#include "ops/reduce/softmax.h"

namespace mica {
MICA_DECLARE_OP(attention);
MICA_DECLARE_OP(cond);
MICA_DECLARE_OP(matmul);
MICA_DECLARE_OP(pow);
MICA_DECLARE_OP(softmax);

namespace {

using expand::cast, expand::concat, expand::list, expand::size_of, expand::transpose, expand::unsqueeze;

// Attribute `key`'s graph, of x, whose type it keeps; x itself when there is none.
Value* modified(const SourceNode& node, Builder& build, std::string_view key, Value* x) {
  if (!node.has(key)) return x;
  node.ignore(key);
  const Type types[] = {x->type};
  Values captures;
  std::vector<std::unique_ptr<Graph>> regions;
  regions.push_back(node.region(node, key, types, captures, nullptr));
  const Graph& body = *regions[0];
  if (body.outputs.size() != 1) fail(Code::kBadModel, "`{}` has {} outputs, expected 1", key, body.outputs.size());
  const Type& made = body.outputs[0]->type;
  if (made.dtype != x->type.dtype && made.dtype != DType::kNone)
    fail(Code::kBadType, "`{}` makes {} of {}", key, name_of(made.dtype), name_of(x->type.dtype));
  if (made.shape.known() && made.shape.rank != x->type.shape.rank)
    fail(Code::kBadRank, "`{}` makes {} dimensions of {}", key, made.shape.rank, x->type.shape.rank);
  regions.push_back(clone(body));
  Values inputs{build.scalar(DType::kBool, 1), x};
  inputs.insert(inputs.end(), captures.begin(), captures.end());
  return build.add_with_regions(op_cond, nullptr, std::move(inputs), std::move(regions), 1)[0];
}

// Queries [batch, heads, length, size] as [batch, heads of keys, group, length, size]: they meet keys with a group axis
// of 1.
struct Heads {
  Value *batch, *all, *kv, *length, *keys;  // lists of one number
};
Value* reshaped(Builder& build, Value* x, const Values& sizes) {
  return build.one(op_reshape, Reshape{}, {x, concat(build, sizes, 0)});
}

// softmax_precision, or what it is when left out.
DType precision_of(const SourceNode& node, DType dtype) {
  if (!node.has("softmax_precision")) return dtype == DType::kF64 ? DType::kF64 : DType::kF32;
  const DType precision = source_dtype(node.format, node.integer("softmax_precision"));
  if (!is_float(precision)) fail(Code::kBadAttribute, "`softmax_precision` is no floating-point type");
  return precision;
}

Value* spell_out(const SourceNode& node, Builder& build, float scale, DType precision) {
  Value *q = node.input(0), *k = node.input(1), *v = node.input(2);
  const DType dtype = q->type.dtype;
  const Heads h{size_of(build, q, 0), size_of(build, q, 1), size_of(build, k, 1), size_of(build, q, 2),
                size_of(build, k, 2)};
  Value* scaling = build.scalar(dtype, scale);
  if (scale == 0) {
    Value* size = cast(build, build.one(op_reshape, Reshape{}, {size_of(build, q, 3), build.ints({})}), dtype);
    constexpr double kMinusHalf = -0.5;
    scaling = build.one(op_pow, {size, build.scalar(dtype, kMinusHalf)});
  }
  Value* grouped = reshaped(build, build.one(op_mul, {q, scaling}),
                            {h.batch, h.kv, list(build, {-1}), h.length, size_of(build, q, 3)});
  Value* scores = build.one(op_matmul, {grouped, transpose(build, unsqueeze(build, k, {2}), {0, 1, 2, 4, 3})});
  scores = cast(build, reshaped(build, scores, {h.batch, h.all, h.length, h.keys}), precision);
  scores = modified(node, build, "score_mod", scores);
  Value* shares = modified(node, build, "prob_mod", build.one(op_softmax, Softmax{.axis = -1}, {scores}));
  shares = reshaped(build, shares, {h.batch, h.kv, list(build, {-1}), h.length, h.keys});
  Value* y = build.one(op_matmul, {shares, cast(build, unsqueeze(build, v, {2}), precision)});
  return cast(build, reshaped(build, y, {h.batch, h.all, h.length, size_of(build, v, 3)}), dtype);
}

Values import_flex(const SourceNode& node, Builder& build) {
  for (size_t i = 0; i < 3; ++i) expand::require_rank(node.input(i), 4, 4, "an operand of attention");
  const float scale = node.number("scale", 0);
  const DType dtype = node.input(0)->type.dtype, precision = precision_of(node, dtype);
  const bool plain = !node.has("score_mod") && !node.has("prob_mod");
  // The operator's own arithmetic is never less than single precision.
  if (plain && (precision != DType::kF64 || dtype == DType::kF64))
    return {build.one(op_attention, Attention{.scale = scale}, {node.input(0), node.input(1), node.input(2)})};
  return {spell_out(node, build, scale, precision)};
}

}  // namespace

MICA_SPELLINGS(flex_attention, {Format::kOnnx, "ai.onnx.preview", "FlexAttention", 1, kLatest, import_flex});

}  // namespace mica
