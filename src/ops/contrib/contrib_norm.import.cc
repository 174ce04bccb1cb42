// Normalisations with what ONNX Runtime's optimiser fuses to them. Its LayerNormalization and
// SimplifiedLayerNormalization stand in the domain ai.onnx, version 1, whatever version of it the model imports.
#include "ops/contrib/expand.import.h"
#include "ops/norm/group_norm.h"
#include "ops/norm/layer_norm.h"
#include "ops/reduce/reduce.h"
#include "ops/reduce/softmax.h"

namespace mica {
MICA_DECLARE_OP(dequantize_linear);
MICA_DECLARE_OP(gelu);
MICA_DECLARE_OP(group_norm);
MICA_DECLARE_OP(layer_norm);
MICA_DECLARE_OP(reduce);
MICA_DECLARE_OP(rms_norm);
MICA_DECLARE_OP(silu);
MICA_DECLARE_OP(softmax);

namespace {

using expand::cast, expand::channels_first, expand::channels_last, expand::hide_unwanted, expand::list, expand::rank_of,
    expand::refuse_output, expand::require_rank, expand::size_of, expand::slice, expand::sum, expand::unsqueeze;

LayerNorm last_axis(const SourceNode& node, float epsilon) {
  return {.axis = -1, .epsilon = node.number("epsilon", epsilon)};
}

Values layer_norm(const SourceNode& node, Builder& build) {
  node.ignore("stash_type");
  const LayerNorm a{.axis = node.integer("axis", -1), .epsilon = node.number("epsilon", 1e-5f)};
  const int outputs = node.wants(2) ? 3 : node.wants(1) ? 2 : 1;
  return hide_unwanted(node, build.add(op_layer_norm, a, node.inputs, outputs));
}
Values simplified(const SourceNode& node, Builder& build) {
  node.ignore("stash_type");
  refuse_output(node, 1, "the inverse of the deviation");
  const LayerNorm a{.axis = node.integer("axis", -1), .epsilon = node.number("epsilon", 1e-5f)};
  return build.add(op_rms_norm, a, node.inputs, 1);
}

// RMSNormalization of the standard: the result has the scale's type, the sum is taken in that of `stash_type` where the
// operand has another.
Values rms_norm(const SourceNode& node, Builder& build) {
  LayerNorm a{.axis = node.integer("axis", -1), .epsilon = node.number("epsilon", 1e-5f)};
  a.statistics = source_dtype(node.format, node.integer("stash_type", 1));
  if (!is_float(a.statistics)) fail(Code::kBadAttribute, "attribute `stash_type` is no floating-point type");
  Value *x = node.input(0), *scale = node.input(1);
  const DType dtype = scale->type.dtype;
  if (x->type.dtype == dtype) return build.add(op_rms_norm, a, node.inputs, 1);
  Value* normal = build.one(op_rms_norm, a, {cast(build, x, a.statistics), cast(build, scale, a.statistics)});
  return {cast(build, normal, dtype)};
}

// Inputs x, skip, scale, [bias of the result,] bias of the sum; output 3 is the sum. Its statistics, the outputs 1 and
// 2, are the training's.
template <bool simplified>
Values skip_norm(const SourceNode& node, Builder& build) {
  Value* total = build.one(op_add, {node.input(0), node.input(1)});
  total = sum(build, total, node.optional(simplified ? 3 : 4));
  const LayerNorm a = last_axis(node, 1e-12f);
  refuse_output(node, simplified ? 1 : node.wants(1) ? 1 : 2, "statistics of the normalisation");
  Value* y = simplified ? build.one(op_rms_norm, a, {total, node.input(2)})
                        : build.one(op_layer_norm, a, {total, node.input(2), node.optional(3)});
  return {y, nullptr, nullptr, total};
}

// How many tokens of each sequence the mask shows; 0 without a mask.
Value* mask_index(const SourceNode& node, Builder& build) {
  if (node.has_input(7)) {
    const Reduce a{.kind = ReduceKind::kSum, .keep_dims = false};
    return build.one(op_reduce, a, {node.input(7), list(build, {1})});
  }
  return build.one(op_expand, {build.scalar(DType::kI32, 0), size_of(build, node.input(0), 0)});
}

// Inputs: tokens, segments, tables of words, positions and segments, scale, bias, mask; then either places of the
// tokens or, `quantized`, scales of the inputs 2 to 6 and their zero points. Rows are picked before they become
// numbers.
template <bool quantized>
Values embed_layer_norm(const SourceNode& node, Builder& build) {
  node.ignore("mask_index_type");  // the output's presence says it
  require_rank(node.input(0), 2, 2, "the tokens");
  if (node.has_input(1) != node.has_input(4)) fail(Code::kBadModel, "segments and their table come together");
  const auto real = [&](Value* x, size_t of) {
    return quantized ? build.one(op_dequantize_linear, {x, node.input(of + 6), node.input(of + 11)}) : x;
  };
  const auto rows = [&](size_t table, Value* which) {
    return real(build.one(op_gather, IndexAxis{}, {node.input(table), which}), table);
  };
  Value* places = quantized ? nullptr : node.optional(8);
  Value* first = slice(build, node.input(3), 0, list(build, {0}), size_of(build, node.input(0), 1));
  Value* total = build.one(op_add, {rows(2, node.input(0)), places ? rows(3, places) : real(first, 3)});
  if (node.has_input(1)) total = build.one(op_add, {total, rows(4, node.input(1))});
  const Values inputs{total, real(node.input(5), 5), real(node.input(6), 6)};
  Value* y = build.one(op_layer_norm, last_axis(node, 1e-12f), inputs);
  return {y, node.wants(1) ? mask_index(node, build) : nullptr, total};
}

Value* grouped(const SourceNode& node, Builder& build, Value* x) {
  const int64_t activation = node.integer("activation");
  if (activation != 0 && activation != 1)
    fail(Code::kBadAttribute, "`activation` is {}, expected 0 (none) or 1 (SiLU)", activation);
  const GroupNorm a{.groups = node.integer("groups"), .epsilon = node.number("epsilon", 1e-5f)};
  const DType dtype = x->type.dtype;
  Value* y = build.one(op_group_norm, a, {x, cast(build, node.input(1), dtype), cast(build, node.input(2), dtype)});
  return activation ? build.one(op_silu, UnaryParameters{.alpha = 1}, {y}) : y;
}
Values group_norm(const SourceNode& node, Builder& build) {
  const bool last = node.integer("channels_last", 1) != 0;
  Value* y = grouped(node, build, last ? channels_first(build, node.input(0)) : node.input(0));
  return {last ? channels_last(build, y) : y};
}

// The skip may be one row of channels for each picture.
Values skip_group_norm(const SourceNode& node, Builder& build) {
  const bool last = node.integer("channels_last", 1) != 0;
  const auto along = [&](Value* x) {
    if (rank_of(x, "a summand") == 1) return last ? x : unsqueeze(build, x, {1, 2});
    if (x->type.shape.rank == 2) return last ? unsqueeze(build, x, {1, 2}) : unsqueeze(build, x, {2, 3});
    return x;
  };
  Value* total = build.one(op_add, {node.input(0), along(node.input(3))});
  if (node.has_input(4)) total = build.one(op_add, {total, along(node.input(4))});
  Value* y = grouped(node, build, last ? channels_first(build, total) : total);
  return {last ? channels_last(build, y) : y, total};
}

Values bias_add(const SourceNode& node, Builder& build) {
  return {build.one(op_add, {build.one(op_add, {node.input(0), node.input(1)}), node.input(2)})};
}

// One half of the sum gates the other.
Values bias_split_gelu(const SourceNode& node, Builder& build) {
  Value* x = build.one(op_add, {node.input(0), node.input(1)});
  const Values halves = build.add(op_split, Split{.axis = -1, .parts = 2}, {x, nullptr}, 2);
  return {build.one(op_mul, {halves[0], build.one(op_gelu, {halves[1]})})};
}

// A bias of fewer axes than the data's is repeated along inner axes or outer ones; NumPy's rule is the outer.
Values bias_softmax(const SourceNode& node, Builder& build) {
  const bool inner = node.integer("is_inner_broadcast") != 0;
  if (rank_of(node.input(0), "the data") != rank_of(node.input(1), "the bias") && inner)
    fail(Code::kUnsupportedOperator, "a bias of fewer dimensions than the data that is repeated along inner axes");
  const Softmax a{.axis = node.integer("axis", 1), .to_end = true};
  return {build.one(op_softmax, a, {build.one(op_add, {node.input(0), node.input(1)})})};
}

constexpr std::string_view kDomain = "com.microsoft";

}  // namespace

MICA_SPELLINGS(contrib_norm, {Format::kOnnx, "", "LayerNormalization", 1, 16, layer_norm},
               {Format::kOnnx, "", "RMSNormalization", 23, kLatest, rms_norm},
               {Format::kOnnx, "", "SimplifiedLayerNormalization", 1, kLatest, simplified},
               {Format::kOnnx, kDomain, "LayerNormalization", 1, kLatest, layer_norm},
               {Format::kOnnx, kDomain, "SimplifiedLayerNormalization", 1, kLatest, simplified},
               {Format::kOnnx, kDomain, "SkipLayerNormalization", 1, kLatest, skip_norm<false>},
               {Format::kOnnx, kDomain, "SkipSimplifiedLayerNormalization", 1, kLatest, skip_norm<true>},
               {Format::kOnnx, kDomain, "EmbedLayerNormalization", 1, kLatest, embed_layer_norm<false>},
               {Format::kOnnx, kDomain, "QEmbedLayerNormalization", 1, kLatest, embed_layer_norm<true>},
               {Format::kOnnx, kDomain, "GroupNorm", 1, kLatest, group_norm},
               {Format::kOnnx, kDomain, "SkipGroupNorm", 1, kLatest, skip_group_norm},
               {Format::kOnnx, kDomain, "BiasAdd", 1, kLatest, bias_add},
               {Format::kOnnx, kDomain, "BiasSplitGelu", 1, kLatest, bias_split_gelu},
               {Format::kOnnx, kDomain, "BiasSoftmax", 1, kLatest, bias_softmax});

}  // namespace mica
