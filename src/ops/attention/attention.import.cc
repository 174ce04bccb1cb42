#include "ops/attention/attention.h"

#include "ir/spelling.h"
#include "ops/attention/causal_conv.h"
#include "ops/attention/linear_attention.h"
#include "ops/attention/rotary_embedding.h"

namespace mica {
MICA_DECLARE_OP(attention);
MICA_DECLARE_OP(rotary_embedding);
MICA_DECLARE_OP(linear_attention);
MICA_DECLARE_OP(causal_conv);

namespace {

template <class A>
Values add(const SourceNode& node, Builder& build, const OpDef& op, const A& attributes) {
  Values made = build.add(op, attributes, node.inputs, std::max(node.outputs(), 1));
  Node& added = *made[0]->producer;
  for (size_t i = 0; i < made.size(); ++i)
    if (!node.wants(i)) added.outputs[i] = nullptr;
  return made;
}

// Release 1.22 of ONNX put the soft cap before the mask, within the opset: capped afterwards, what is hidden is seen.
constexpr int kMaskFirst = 1021;

Values import_attention(const SourceNode& node, Builder& build) {
  Attention a{.q_heads = node.integer("q_num_heads", 0),
              .kv_heads = node.integer("kv_num_heads", 0),
              .scale = node.number("scale", 0)};
  a.causal = node.integer("is_causal", 0) != 0;
  a.softcap = node.number("softcap", 0);
  a.left_window = node.integer("left_window_size", -1);
  a.right_window = node.integer("right_window_size", -1);
  a.scores = node.integer("qk_matmul_output_mode", 0);
  a.mask_first = node.release <= kMaskFirst;
  node.ignore("softmax_precision");  // never less than single precision here
  return add(node, build, op_attention, a);
}

Values import_rotary(const SourceNode& node, Builder& build) {
  RotaryEmbedding a{.heads = node.integer("num_heads", 0), .size = node.integer("rotary_embedding_dim", 0)};
  a.interleaved = node.integer("interleaved", 0) != 0;
  return add(node, build, op_rotary_embedding, a);
}

Values import_linear(const SourceNode& node, Builder& build) {
  LinearAttention a;
  read_attributes_by_name(node, attr_class<LinearAttention>(), &a);
  a.q_heads = node.integer("q_num_heads");
  a.kv_heads = node.integer("kv_num_heads");
  node.ignore("chunk_size");  // how to compute it, not what
  return add(node, build, op_linear_attention, a);
}

Values import_causal_conv(const SourceNode& node, Builder& build) {
  const std::string activation = node.text("activation", "none");
  CausalConv a{.silu = activation == "silu" || activation == "swish"};
  if (!a.silu && activation != "none")
    fail(Code::kBadAttribute, "`activation` is `{}`, expected none, silu or swish", activation);
  return add(node, build, op_causal_conv, a);
}

}  // namespace

MICA_SPELLINGS(attention, {Format::kOnnx, "", "Attention", 23, kLatest, import_attention},
               {Format::kOnnx, "", "RotaryEmbedding", 23, kLatest, import_rotary},
               {Format::kOnnx, "", "LinearAttention", 27, kLatest, import_linear},
               {Format::kOnnx, "", "CausalConvWithState", 27, kLatest, import_causal_conv});

}  // namespace mica
