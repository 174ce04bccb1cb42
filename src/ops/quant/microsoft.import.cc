// Operators of the com.microsoft domain that quantized and optimised models hold, as standard ones: operands are
// dequantized, the float operator applied, the result quantized. That is their definition, up to where an engine
// rounds.
#include <limits>

#include "ir/spelling.h"

namespace mica {
MICA_DECLARE_OP(add);
MICA_DECLARE_OP(average_pool);
MICA_DECLARE_OP(cast);
MICA_DECLARE_OP(clip);
MICA_DECLARE_OP(concat);
MICA_DECLARE_OP(conv);
MICA_DECLARE_OP(dequantize_linear);
MICA_DECLARE_OP(dynamic_quantize_linear);
MICA_DECLARE_OP(elu);
MICA_DECLARE_OP(gemm);
MICA_DECLARE_OP(global_average_pool);
MICA_DECLARE_OP(hard_sigmoid);
MICA_DECLARE_OP(leaky_relu);
MICA_DECLARE_OP(matmul);
MICA_DECLARE_OP(matmul_integer);
MICA_DECLARE_OP(mul);
MICA_DECLARE_OP(quantize_linear);
MICA_DECLARE_OP(reduce);
MICA_DECLARE_OP(relu);
MICA_DECLARE_OP(selu);
MICA_DECLARE_OP(sigmoid);
MICA_DECLARE_OP(softmax);
MICA_DECLARE_OP(softplus);
MICA_DECLARE_OP(softsign);
MICA_DECLARE_OP(tanh);
MICA_DECLARE_OP(thresholded_relu);
MICA_DECLARE_OP(transpose);
MICA_DECLARE_OP(where);

namespace {

// One node with attributes as text: "axis=1, groups=2".
Value* apply(Builder& build, const OpDef& op, const std::string& attributes, Values inputs) {
  alignas(16) std::byte blob[kMaxAttrBytes];
  if (op.attributes.init) op.attributes.init(blob);
  if (op.attributes.init) ok_or_throw(parse_attributes(op.attributes, blob, attributes, build.dims()));
  return build.add(op, op.attributes.init ? blob : nullptr, std::move(inputs), 1)[0];
}

std::string list_of(const std::vector<int64_t>& list) {
  std::string text = "[";
  for (size_t i = 0; i < list.size(); ++i) text += (i ? "," : "") + std::to_string(list[i]);
  return text + "]";
}

// Prints a float so that it reads back the same.
std::string number(float value) {
  char text[64];
  const size_t size = format_to(text, sizeof text, "{}", value);
  return std::string(text, size);
}

Value* dequantize(const SourceNode& node, Builder& build, size_t first, int64_t axis = 1) {
  return apply(build, op_dequantize_linear, "axis=" + std::to_string(axis),
               {node.input(first), node.input(first + 1), node.optional(first + 2)});
}
Value* quantize(const SourceNode& node, Builder& build, Value* x, size_t scale) {
  return apply(build, op_quantize_linear, "", {x, node.input(scale), node.optional(scale + 1)});
}

template <const OpDef& op>
Values import_binary(const SourceNode& node, Builder& build) {
  Value* result = build.one(op, {dequantize(node, build, 0), dequantize(node, build, 3)});
  return {quantize(node, build, result, 6)};
}

Values import_leaky(const SourceNode& node, Builder& build) {
  Value* x = apply(build, op_leaky_relu, "alpha=" + number(node.number("alpha", 0.01f)), {dequantize(node, build, 0)});
  return {quantize(node, build, x, 3)};
}
Values import_sigmoid(const SourceNode& node, Builder& build) {
  return {quantize(node, build, build.one(op_sigmoid, {dequantize(node, build, 0)}), 3)};
}
Values import_softmax(const SourceNode& node, Builder& build) {
  // `opset`: of the Softmax that was quantized; before 13 it ran over all axes from its own on.
  const bool to_end = node.integer("opset", 13) < 13;
  const std::string attributes =
      "axis=" + std::to_string(node.integer("axis", -1)) + ", to_end=" + (to_end ? "true" : "false");
  Value* x = apply(build, op_softmax, attributes, {dequantize(node, build, 0)});
  return {quantize(node, build, x, 3)};
}

// From [N,...,C] to [N,C,...] and back, for pooling of channels-last operands.
Value* turn(Builder& build, Value* x, bool to_channels_first) {
  const int rank = x->type.shape.rank;
  if (rank < 3) fail(Code::kUnsupportedOperator, "pooling of an operand whose rank is not known");
  std::vector<int64_t> perm{0};
  if (to_channels_first) perm.push_back(rank - 1);
  for (int i = 0; i < rank - 2; ++i) perm.push_back(i + (to_channels_first ? 1 : 2));
  if (!to_channels_first) perm.push_back(1);
  return apply(build, op_transpose, "perm=" + list_of(perm), {x});
}

template <class Pool>
Values import_pool(const SourceNode& node, Builder& build, Pool pool) {
  const bool last = node.integer("channels_last", 0) != 0;
  Value* x = dequantize(node, build, 0);
  x = pool(last ? turn(build, x, true) : x);
  return {quantize(node, build, last ? turn(build, x, false) : x, 3)};
}
Values import_average(const SourceNode& node, Builder& build) {
  std::string attributes = "kernel=" + list_of(node.ints("kernel_shape")) +
                           ", strides=" + list_of(node.ints("strides")) + ", pads=" + list_of(node.ints("pads"));
  attributes += std::string(", ceil_mode=") + (node.integer("ceil_mode", 0) ? "true" : "false");
  attributes += std::string(", count_include_pad=") + (node.integer("count_include_pad", 0) ? "true" : "false");
  std::string pad = node.text("auto_pad", "NOTSET");
  for (char& c : pad) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  attributes += ", auto_pad=" + pad;
  return import_pool(node, build, [&](Value* x) { return apply(build, op_average_pool, attributes, {x}); });
}
Values import_global_average(const SourceNode& node, Builder& build) {
  return import_pool(node, build, [&](Value* x) { return build.one(op_global_average_pool, {x}); });
}

// Inputs: the result's scale and zero point, then operands of three.
Values import_concat(const SourceNode& node, Builder& build) {
  Values parts;
  for (size_t i = 2; i + 1 < node.inputs.size(); i += 3) parts.push_back(dequantize(node, build, i));
  Value* all = apply(build, op_concat, "axis=" + std::to_string(node.integer("axis")), std::move(parts));
  return {quantize(node, build, all, 0)};
}

std::string flag(const char* name, bool value) { return std::string(name) + (value ? "=true" : "=false"); }

// C is in units of alpha · a_scale · b_scale. Without a scale of its own the result is float.
Values import_gemm(const SourceNode& node, Builder& build) {
  const float alpha = node.number("alpha", 1);
  const bool flip_b = node.integer("transB", 0) != 0;
  Values operands{dequantize(node, build, 0), dequantize(node, build, 3, flip_b ? 0 : 1)};
  if (node.has_input(6)) {
    Value* unit = build.one(op_mul, {build.one(op_mul, {node.input(1), node.input(4)}),
                                     build.scalar(DType::kF32, static_cast<double>(alpha))});
    operands.push_back(build.one(op_mul, {apply(build, op_cast, "to=f32", {node.input(6)}), unit}));
  }
  const std::string attributes = "alpha=" + number(alpha) + ", " + flag("transpose_a", node.integer("transA", 0) != 0) +
                                 ", " + flag("transpose_b", flip_b);
  Value* y = apply(build, op_gemm, attributes, std::move(operands));
  return {node.has_input(7) ? quantize(node, build, y, 7) : y};
}

Value* scaled(Builder& build, Value* sums, const Values& factors, Value* bias) {
  Value* y = apply(build, op_cast, "to=f32", {sums});
  Value* factor = build.one(op_mul, factors);
  y = build.one(op_mul, {y, factor});
  return bias ? build.one(op_add, {y, bias}) : y;
}
Values import_matmul_to_float(const SourceNode& node, Builder& build) {
  Value* sums = build.one(op_matmul_integer, {node.input(0), node.input(1), node.optional(4), node.optional(5)});
  return {scaled(build, sums, {node.input(2), node.input(3)}, node.optional(6))};
}
Values import_dynamic_matmul(const SourceNode& node, Builder& build) {
  const Values a = build.add(op_dynamic_quantize_linear, {node.input(0)}, 3);
  Value* sums = build.one(op_matmul_integer, {a[0], node.input(1), a[2], node.optional(3)});
  return {scaled(build, sums, {a[1], node.input(2)}, node.optional(4))};
}

// The function that a fused operator ends with; `parameters` in the order of the standard operator's attributes.
Value* activate(Builder& build, Value* x, const std::string& name, const std::vector<float>& parameters) {
  const auto at = [&](size_t i, float otherwise) { return number(i < parameters.size() ? parameters[i] : otherwise); };
  constexpr float kMost = std::numeric_limits<float>::max();
  if (name.empty() || name == "Identity") return x;
  if (name == "Relu") return build.one(op_relu, {x});
  if (name == "Sigmoid") return build.one(op_sigmoid, {x});
  if (name == "Tanh") return build.one(op_tanh, {x});
  if (name == "Softplus") return build.one(op_softplus, {x});
  if (name == "Softsign") return build.one(op_softsign, {x});
  if (name == "Elu") return apply(build, op_elu, "alpha=" + at(0, 1), {x});
  if (name == "Selu") return apply(build, op_selu, "alpha=" + at(0, 1.67326319f) + ", beta=" + at(1, 1.05070102f), {x});
  if (name == "ThresholdedRelu") return apply(build, op_thresholded_relu, "alpha=" + at(0, 1), {x});
  if (name == "LeakyRelu") return apply(build, op_leaky_relu, "alpha=" + at(0, 0.01f), {x});
  if (name == "Clip") return apply(build, op_clip, "alpha=" + at(0, -kMost) + ", beta=" + at(1, kMost), {x});
  if (name == "HardSigmoid")
    return apply(build, op_hard_sigmoid, "alpha=" + at(0, 0.2f) + ", beta=" + at(1, 0.5f), {x});
  fail(Code::kUnsupportedOperator, "the fused activation `{}` is not supported", name);
}

Values import_fused_conv(const SourceNode& node, Builder& build) {
  const auto ints = [&](const char* name) { return std::string(name) + "=" + list_of(node.ints(name)); };
  std::string pad = node.text("auto_pad", "NOTSET");
  for (char& c : pad) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  node.ignore("kernel_shape");
  Value* y = apply(build, op_conv,
                   ints("strides") + ", " + ints("dilations") + ", " + ints("pads") +
                       ", groups=" + std::to_string(node.integer("group", 1)) + ", auto_pad=" + pad,
                   {node.input(0), node.input(1), node.optional(2)});
  if (node.has_input(3)) y = build.one(op_add, {y, node.input(3)});
  return {activate(build, y, node.text("activation", ""), node.floats("activation_params"))};
}

Values import_fused_gemm(const SourceNode& node, Builder& build) {
  const std::string attributes =
      "alpha=" + number(node.number("alpha", 1)) + ", beta=" + number(node.number("beta", 1)) + ", " +
      flag("transpose_a", node.integer("transA", 0) != 0) + ", " + flag("transpose_b", node.integer("transB", 0) != 0);
  Value* y = apply(build, op_gemm, attributes, {node.input(0), node.input(1), node.optional(2)});
  std::vector<float> parameters;
  for (const char* name : {"activation_alpha", "activation_beta", "activation_gamma"})
    if (node.has(name)) parameters.push_back(node.number(name, 0));
  return {activate(build, y, node.text("activation", ""), parameters)};
}

// An operand of a product as [batches, rows, columns]. `flip_batch`: its rows stand before the batches; then `flip`:
// the last axis is the rows.
Value* product_operand(Builder& build, Value* x, bool flip, bool flip_batch) {
  const int rank = x->type.shape.rank;
  if (!x->type.shape.known()) fail(Code::kUnsupportedOperator, "the transpose of an operand whose rank is not known");
  if (rank < 2 || (!flip && !(flip_batch && rank > 2))) return x;
  std::vector<int64_t> perm;
  const int first = flip_batch ? 1 : 0;
  for (int i = 0; i < rank - 2; ++i) perm.push_back(i + first);
  perm.push_back(flip_batch ? 0 : rank - 2);
  perm.push_back(rank - 1);
  if (flip) std::swap(perm[perm.size() - 1], perm[perm.size() - 2]);
  return apply(build, op_transpose, "perm=" + list_of(perm), {x});
}
Value* fused_product(const SourceNode& node, Builder& build) {
  const auto is = [&](const char* name) { return node.integer(name, 0) != 0; };
  Value* a = product_operand(build, node.input(0), is("transA"), is("transBatchA"));
  Value* b = product_operand(build, node.input(1), is("transB"), is("transBatchB"));
  Value* y = build.one(op_matmul, {a, b});
  const float alpha = node.number("alpha", 1);
  return alpha == 1 ? y : build.one(op_mul, {y, build.scalar(y->type.dtype, static_cast<double>(alpha))});
}
Values import_fused_matmul(const SourceNode& node, Builder& build) { return {fused_product(node, build)}; }
Values import_fused_matmul_activation(const SourceNode& node, Builder& build) {
  std::vector<float> parameters;
  for (const char* name : {"activation_alpha", "activation_beta", "activation_gamma"})
    if (node.has(name)) parameters.push_back(node.number(name, 0));
  const std::string name = node.text("activation", "");
  Value* y = fused_product(node, build);
  if (name == "Softmax")
    return {apply(build, op_softmax, "axis=" + std::to_string(node.integer("activation_axis", -1)), {y})};
  node.ignore("activation_axis");
  return {activate(build, y, name, parameters)};
}

// A mean of what the integers stand for.
Values import_reduce_mean(const SourceNode& node, Builder& build) {
  const std::string attributes = std::string("kind=mean, ") + flag("keep_dims", node.integer("keepdims", 1) != 0);
  Value* axes = node.has("axes") ? build.ints(node.ints("axes")) : nullptr;
  Value* y = apply(build, op_reduce, attributes, {dequantize(node, build, 0), axes});
  return {quantize(node, build, y, 3)};
}

Values import_where(const SourceNode& node, Builder& build) {
  Value* y = build.one(op_where, {node.input(0), dequantize(node, build, 1), dequantize(node, build, 4)});
  return {quantize(node, build, y, 7)};
}

constexpr std::string_view kDomain = "com.microsoft";

}  // namespace

MICA_SPELLINGS(microsoft, {Format::kOnnx, kDomain, "QLinearAdd", 1, kLatest, import_binary<op_add>},
               {Format::kOnnx, kDomain, "QLinearMul", 1, kLatest, import_binary<op_mul>},
               {Format::kOnnx, kDomain, "QLinearLeakyRelu", 1, kLatest, import_leaky},
               {Format::kOnnx, kDomain, "QLinearSigmoid", 1, kLatest, import_sigmoid},
               {Format::kOnnx, kDomain, "QLinearSoftmax", 1, kLatest, import_softmax},
               {Format::kOnnx, kDomain, "QLinearAveragePool", 1, kLatest, import_average},
               {Format::kOnnx, kDomain, "QLinearGlobalAveragePool", 1, kLatest, import_global_average},
               {Format::kOnnx, kDomain, "QLinearConcat", 1, kLatest, import_concat},
               {Format::kOnnx, kDomain, "QGemm", 1, kLatest, import_gemm},
               {Format::kOnnx, kDomain, "MatMulIntegerToFloat", 1, kLatest, import_matmul_to_float},
               {Format::kOnnx, kDomain, "DynamicQuantizeMatMul", 1, kLatest, import_dynamic_matmul},
               {Format::kOnnx, kDomain, "FusedConv", 1, kLatest, import_fused_conv},
               {Format::kOnnx, kDomain, "FusedGemm", 1, kLatest, import_fused_gemm},
               {Format::kOnnx, kDomain, "FusedMatMul", 1, kLatest, import_fused_matmul},
               {Format::kOnnx, kDomain, "FusedMatMulActivation", 1, kLatest, import_fused_matmul_activation},
               {Format::kOnnx, kDomain, "TransposeMatMul", 1, kLatest, import_fused_matmul},
               {Format::kOnnx, kDomain, "QLinearReduceMean", 1, kLatest, import_reduce_mean},
               {Format::kOnnx, kDomain, "QLinearWhere", 1, kLatest, import_where});

}  // namespace mica
