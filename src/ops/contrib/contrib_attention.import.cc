// Attention of com.microsoft: with the projections to queries, keys and values (Attention, QAttention) or without
// (MultiHeadAttention).
#include "ops/contrib/attend.import.h"

namespace mica {
MICA_DECLARE_OP(matmul);
MICA_DECLARE_OP(matmul_integer);

namespace {

using expand::Attended, expand::attend, expand::cast, expand::concat, expand::from_heads, expand::key_count,
    expand::list, expand::mask_numbers, expand::rank_of, expand::require_rank, expand::reshape, expand::slice,
    expand::split, expand::sum, expand::take, expand::to_heads, expand::unsqueeze;

void refuse_attributes(const SourceNode& node, std::initializer_list<const char*> names) {
  for (const char* name : names)
    if (node.integer(name, 0)) fail(Code::kUnsupportedOperator, "`{}` is not supported", name);
}

int64_t heads_of(const SourceNode& node) {
  const int64_t heads = node.integer("num_heads");
  if (heads <= 0) fail(Code::kBadAttribute, "`num_heads` is {}, expected at least 1", heads);
  return heads;
}

Attention attributes_of(const SourceNode& node) {
  const int64_t heads = heads_of(node);
  return {.q_heads = heads,
          .kv_heads = heads,
          .scale = node.number("scale", 0),
          .causal = node.integer("unidirectional", 0) != 0};
}

// Both forms of mask, added up.
void set_mask(const SourceNode& node, Builder& build, Attended& x, Value* mask, Value* bias) {
  const auto hidden = static_cast<double>(node.number("mask_filter_value", -10000.0f));
  if (mask) x.mask = mask_numbers(build, mask, x.q, key_count(build, x), hidden);
  if (bias) x.mask = sum(build, bias, x.mask);
}

// Sizes of queries, keys and values side by side.
std::vector<int64_t> projection_sizes(const SourceNode& node, Dim all) {
  std::vector<int64_t> sizes = node.ints("qkv_hidden_sizes");
  if (!all.is_fixed()) fail(Code::kUnsupportedOperator, "weights whose shape is not known");
  if (sizes.empty()) sizes.assign(3, all.value() / 3);
  if (sizes.size() != 3 || sizes[0] + sizes[1] + sizes[2] != all.value())
    fail(Code::kBadAttribute, "{} columns of weights cannot be split into queries, keys and values", all.value());
  return sizes;
}

// `past` and the result's second output hold keys and then values in their first axis.
Values projected(const SourceNode& node, Builder& build, Value* qkv, const std::vector<int64_t>& sizes, Value* past) {
  const size_t bias = node.op == "QAttention" ? 9 : 5, mask = node.op == "QAttention" ? 5 : 3;
  const Values parts = split(build, qkv, -1, sizes);
  Attended x{.q = parts[0], .k = parts[1], .v = parts[2]};
  if (past) {
    require_rank(past, 5, 5, "the past");
    x.past_key = take(build, past, 0, 0);
    x.past_value = take(build, past, 0, 1);
  }
  set_mask(node, build, x, node.optional(mask), node.optional(bias));
  const Values made = attend(build, attributes_of(node), x, node.wants(1) ? 7 : 1);
  if (!node.wants(1)) return {made[0]};
  return {made[0], concat(build, {unsqueeze(build, made[1], {0}), unsqueeze(build, made[2], {0})}, 0)};
}

Values import_attention(const SourceNode& node, Builder& build) {
  refuse_attributes(node, {"do_rotary", "past_present_share_buffer"});
  node.ignore("rotary_embedding_dim");
  require_rank(node.input(1), 2, 2, "the weights");
  Value* qkv = sum(build, build.one(op_matmul, {node.input(0), node.input(1)}), node.optional(2));
  return projected(node, build, qkv, projection_sizes(node, node.input(1)->type.shape[1]), node.optional(4));
}

Values import_quantized(const SourceNode& node, Builder& build) {
  refuse_attributes(node, {"do_rotary", "past_present_share_buffer"});
  require_rank(node.input(1), 2, 2, "the weights");
  Value* sums = build.one(op_matmul_integer, {node.input(0), node.input(1), node.optional(6), node.optional(7)});
  Value* factor = build.one(op_mul, {node.input(3), node.input(4)});
  Value* qkv = build.one(op_mul, {cast(build, sums, factor->type.dtype), factor});
  qkv = sum(build, qkv, node.optional(2));
  return projected(node, build, qkv, projection_sizes(node, node.input(1)->type.shape[1]), node.optional(8));
}

// Slice `index` of packed operands [batch, length, heads, parts, size] as [batch, length, heads · size].
Value* unpack(Builder& build, Value* packed, int64_t index) {
  return reshape(build, take(build, packed, 3, index), {0, 0, -1});
}

// One bias for queries, keys and values, side by side.
void add_bias(Builder& build, Attended& x, Value* bias) {
  const auto width = [](const Value* part) {
    const Dim d = part->type.shape.back();
    if (!d.is_fixed()) fail(Code::kUnsupportedOperator, "a bias for operands whose width is not known");
    return d.value();
  };
  // Keys and values with an axis of heads come from elsewhere, with their bias.
  const bool apart = rank_of(x.k, "the keys") == 4;
  if (apart) {
    x.q = build.one(op_add, {x.q, slice(build, bias, 0, list(build, {0}), list(build, {width(x.q)}))});
    return;
  }
  const int64_t sizes[] = {width(x.q), width(x.k), width(x.v)};
  const Values parts = split(build, bias, 0, sizes);
  x.q = build.one(op_add, {x.q, parts[0]});
  x.k = build.one(op_add, {x.k, parts[1]});
  x.v = build.one(op_add, {x.v, parts[2]});
}

Attended operands_of(const SourceNode& node, Builder& build) {
  Attended x{.q = node.input(0), .past_key = node.optional(6), .past_value = node.optional(7)};
  if (rank_of(x.q, "the queries") == 5) {
    Value* packed = x.q;
    x.q = unpack(build, packed, 0), x.k = unpack(build, packed, 1), x.v = unpack(build, packed, 2);
  } else if (rank_of(node.input(1), "the keys") == 5) {
    x.k = unpack(build, node.input(1), 0), x.v = unpack(build, node.input(1), 1);
  } else {
    x.k = node.input(1), x.v = node.input(2);
  }
  if (node.has_input(3)) add_bias(build, x, node.input(3));
  return x;
}

Values import_multi_head(const SourceNode& node, Builder& build) {
  for (size_t i : {size_t{8}, size_t{9}})
    if (node.has_input(i)) fail(Code::kUnsupportedOperator, "a cache of fixed size (input {}) is not supported", i);
  Attention a = attributes_of(node);
  Attended x = operands_of(node, build);
  set_mask(node, build, x, node.optional(4), node.optional(5));
  const bool apart = x.k->type.shape.rank == 4;
  if (apart) x.q = to_heads(build, x.q, a.q_heads);
  unsigned wanted = 1;
  for (size_t i = 1; i < 4; ++i) wanted |= node.wants(i) ? 1u << i : 0;
  a.scores = 2;
  Values made = attend(build, a, x, wanted);
  if (apart) made[0] = from_heads(build, made[0]);
  return made;
}

constexpr std::string_view kDomain = "com.microsoft";

}  // namespace

MICA_SPELLINGS(contrib_attention, {Format::kOnnx, kDomain, "Attention", 1, kLatest, import_attention},
               {Format::kOnnx, kDomain, "MultiHeadAttention", 1, kLatest, import_multi_head},
               {Format::kOnnx, kDomain, "QAttention", 1, kLatest, import_quantized});

}  // namespace mica
