// Attention of decoders with a cache of keys and values, and the rotation of their operands by position.
#include "ops/attention/rotary_embedding.h"
#include "ops/contrib/attend.import.h"
#include "ops/move/tensor_scatter.h"
#include "ops/norm/layer_norm.h"

namespace mica {
MICA_DECLARE_OP(greater);
MICA_DECLARE_OP(less_or_equal);
MICA_DECLARE_OP(max);
MICA_DECLARE_OP(rms_norm);
MICA_DECLARE_OP(rotary_embedding);
MICA_DECLARE_OP(tensor_scatter);

namespace {

using expand::Attended, expand::attend, expand::cast, expand::concat, expand::from_heads, expand::iota, expand::list,
    expand::rank_of, expand::refuse_output, expand::require_rank, expand::reshape, expand::size_of, expand::slice,
    expand::split, expand::to_heads, expand::unsqueeze;

int64_t fixed(const Dim& d, std::string_view what) {
  if (!d.is_fixed()) fail(Code::kUnsupportedOperator, "{} is not known", what);
  return d.value();
}

// The places of the tokens of x: given for each, or counted from one number on.
Value* token_places(Builder& build, Value* x, Value* given) {
  if (rank_of(given, "the positions") == 2) return given;
  const int64_t axis = x->type.shape.rank == 4 ? 2 : 1;
  Value* place = build.one(op_add, {iota(build, size_of(build, x, axis)), cast(build, given, DType::kI64)});
  return build.one(op_expand, {place, concat(build, {size_of(build, x, 0), size_of(build, x, axis)}, 0)});
}

Values import_rotary(const SourceNode& node, Builder& build) {
  Value *x = node.input(0), *table = node.input(2);
  require_rank(x, 3, 4, "the operand");
  require_rank(table, 2, 2, "the table of cosines");
  node.ignore("scale");  // is read by nobody
  if (node.integer("is_packed_batching", 0)) fail(Code::kUnsupportedOperator, "`is_packed_batching` is not supported");
  RotaryEmbedding a{.heads = node.integer("num_heads", 0), .size = node.integer("rotary_embedding_dim", 0)};
  a.interleaved = node.integer("interleaved", 0) != 0;
  const int64_t rotated = 2 * fixed(table->type.shape[1], "the width of the tables");
  if (!a.size && x->type.shape.rank == 3 && !a.heads && rotated > 0)
    a.heads = fixed(x->type.shape[2], "the width of the operand") / rotated;
  return {build.one(op_rotary_embedding, a, {x, table, node.input(3), token_places(build, x, node.input(1))})};
}

struct Decoder {
  int64_t heads, kv_heads;
  Value *q, *k, *v;       // [batch, length, heads · size]
  Value *length, *total;  // lists of one number: new tokens, all of them
  Value* past;            // of each sequence: how many tokens there were before, [batch]
  Value* places;          // of the new tokens, [batch, length]
};

Decoder operands_of(const SourceNode& node, Builder& build) {
  Decoder d{.heads = node.integer("num_heads"), .kv_heads = node.integer("kv_num_heads"), .q = node.input(0)};
  constexpr int64_t kMostHeads = 1 << 20;
  if (d.heads <= 0 || d.kv_heads <= 0 || d.heads > kMostHeads || d.kv_heads > kMostHeads)
    fail(Code::kBadAttribute, "{} heads and {} of keys", d.heads, d.kv_heads);
  require_rank(d.q, 3, 3, "the query");
  if (node.has_input(1)) {
    d.k = node.input(1), d.v = node.input(2);
  } else {
    const int64_t size = fixed(d.q->type.shape[2], "the width of the query") / (d.heads + 2 * d.kv_heads);
    const int64_t sizes[] = {d.heads * size, d.kv_heads * size, d.kv_heads * size};
    const Values parts = split(build, d.q, -1, sizes);
    d.q = parts[0], d.k = parts[1], d.v = parts[2];
  }
  d.length = size_of(build, d.q, 1);
  d.total = reshape(build, cast(build, node.input(6), DType::kI64), {1});
  // Input 5 has the last token's place. A first run may have sequences that are shorter than its tokens: nothing is
  // before them.
  Value* last = reshape(build, cast(build, node.input(5), DType::kI64), {-1});
  Value* before = build.one(op_sub, {build.one(op_add, {last, list(build, {1})}), d.length});
  d.past = build.one(op_max, {before, list(build, {0})});
  d.places = build.one(op_add, {unsqueeze(build, d.past, {1}), unsqueeze(build, iota(build, d.length), {0})});
  return d;
}

Value* norm_heads(Builder& build, Value* x, int64_t heads, Value* weight, float epsilon) {
  Value* split_up = reshape(build, x, {0, 0, heads, -1});
  return reshape(build, build.one(op_rms_norm, LayerNorm{.epsilon = epsilon}, {split_up, weight}), {0, 0, -1});
}

void rotate(const SourceNode& node, Builder& build, Decoder& d) {
  if (node.has_input(14)) {
    const float epsilon = node.number("qk_norm_epsilon", 1e-6f);
    d.q = norm_heads(build, d.q, d.heads, node.input(14), epsilon);
    d.k = norm_heads(build, d.k, d.kv_heads, node.input(15), epsilon);
  }
  const bool interleaved = node.integer("rotary_interleaved", 0) != 0;
  if (!node.integer("do_rotary", 0)) return;
  Value *cosine = node.input(7), *sine = node.input(8);
  Value* places = node.has_input(9) ? node.input(9) : d.places;
  RotaryEmbedding a{.heads = d.heads, .size = 2 * fixed(cosine->type.shape[1], "the width of the tables")};
  a.interleaved = interleaved;
  d.q = build.one(op_rotary_embedding, a, {d.q, cosine, sine, places});
  a.heads = d.kv_heads;
  d.k = build.one(op_rotary_embedding, a, {d.k, cosine, sine, places});
}

// The cache, made longer where it is shorter than all tokens, with the new ones at their places.
Value* cached(Builder& build, const Decoder& d, Value* past, Value* fresh) {
  Value* x = to_heads(build, fresh, d.kv_heads);
  if (!past) return x;
  require_rank(past, 4, 4, "the cache");
  Value* room = size_of(build, past, 2);
  Value* missing = build.one(op_sub, {build.one(op_max, {room, d.total}), room});
  Value* shape = concat(build, {size_of(build, x, 0), size_of(build, x, 1), missing, size_of(build, x, 3)}, 0);
  Value* zeros = build.one(op_expand, {build.scalar(x->type.dtype, 0), shape});
  return build.one(op_tensor_scatter, TensorScatter{.axis = 2}, {concat(build, {past, zeros}, 2), x, d.past});
}

// Which keys each query sees: truth values [batch, 1, length, keys].
Value* visible(const SourceNode& node, Builder& build, const Decoder& d, Value* keys) {
  const bool causal = node.integer("causal", 1) != 0;
  const int64_t window = node.integer("local_window_size", -1);
  Value* place = unsqueeze(build, iota(build, keys), {0, 1, 2});
  Value* query = unsqueeze(build, unsqueeze(build, d.places, {1}), {3});
  Value* last =
      causal ? query : unsqueeze(build, reshape(build, cast(build, node.input(5), DType::kI64), {-1}), {1, 2, 3});
  Value* seen = build.one(op_less_or_equal, {place, last});
  if (window < 0) return seen;
  Value* first = build.one(op_sub, {query, build.scalar(DType::kI64, static_cast<double>(window))});
  return build.one(op_where, {build.one(op_greater, {place, first}), seen, build.scalar(DType::kBool, 0)});
}

// Summands of the scores, with the bias where there is one.
Value* decoder_mask(const SourceNode& node, Builder& build, Value* seen) {
  Value *bias = node.optional(10), *shown = bias;
  const DType dtype = node.input(0)->type.dtype;
  if (bias)
    seen = slice(build, seen, 3, list(build, {0}), size_of(build, bias, 3));
  else
    shown = build.scalar(dtype, 0);
  return build.one(op_where, {seen, shown, build.scalar(dtype, -std::numeric_limits<double>::infinity())});
}

// A key of zeros whose score is `sink`, a number per head, adds exp(sink) to the denominator of the softmax and nothing
// else. It stands first: the mask may be shorter than the keys.
void add_sink(Builder& build, const Decoder& d, Attended& x, Value* sink) {
  for (Value** part : {&x.k, &x.v}) {
    const auto size = [&](int64_t axis) { return size_of(build, *part, axis); };
    Value* shape = concat(build, {size(0), size(1), list(build, {1}), size(3)}, 0);
    *part = concat(build, {build.one(op_expand, {build.scalar((*part)->type.dtype, 0), shape}), *part}, 2);
  }
  const auto spread = [&](Value* summand, Value* last) {
    Value* shape = concat(build, {size_of(build, x.q, 0), list(build, {d.heads}), d.length, last}, 0);
    return build.one(op_expand, {summand, shape});
  };
  Value* column = sink ? unsqueeze(build, sink, {0, 2, 3}) : build.scalar(x.q->type.dtype, 0);
  x.mask = concat(build, {spread(column, list(build, {1})), spread(x.mask, size_of(build, x.mask, 3))}, 3);
}

void refuse(const SourceNode& node) {
  for (const char* name : {"sliding_window_cache", "kv_cache_bit_width", "qk_output"})
    if (node.integer(name, 0)) fail(Code::kUnsupportedOperator, "`{}` is not supported", name);
  for (const char* name : {"k_quant_type", "v_quant_type"})
    if (node.text(name, "NONE") != "NONE") fail(Code::kUnsupportedOperator, "a quantized cache is not supported");
  refuse_output(node, 3, "the scores");
}

Values import_group_query(const SourceNode& node, Builder& build) {
  refuse(node);
  Decoder d = operands_of(node, build);
  rotate(node, build, d);
  Attended x{.q = to_heads(build, d.q, d.heads)};
  Value* keys = cached(build, d, node.optional(3), d.k);
  Value* values = cached(build, d, node.optional(4), d.v);
  x.k = keys, x.v = values;
  x.mask = decoder_mask(node, build, visible(node, build, d, size_of(build, keys, 2)));
  const bool smooth = node.integer("smooth_softmax", 0) > 0;
  if (smooth || node.has_input(11)) add_sink(build, d, x, node.optional(11));
  const Attention a{.scale = node.number("scale", 0), .softcap = node.number("softcap", 0)};
  return {from_heads(build, attend(build, a, x, 1)[0]), keys, values};
}

constexpr std::string_view kDomain = "com.microsoft";

}  // namespace

MICA_SPELLINGS(group_query, {Format::kOnnx, kDomain, "GroupQueryAttention", 1, kLatest, import_group_query},
               {Format::kOnnx, kDomain, "RotaryEmbedding", 1, kLatest, import_rotary});

}  // namespace mica
