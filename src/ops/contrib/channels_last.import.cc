// Operators whose pictures have their channels last.
#include "ops/contrib/expand.import.h"
#include "ops/conv/conv.h"
#include "ops/pool/pool.h"

namespace mica {
MICA_DECLARE_OP(conv);
MICA_DECLARE_OP(hard_sigmoid);
MICA_DECLARE_OP(leaky_relu);
MICA_DECLARE_OP(max_pool);
MICA_DECLARE_OP(relu);
MICA_DECLARE_OP(sigmoid);
MICA_DECLARE_OP(tanh);

namespace {

using expand::channels_first, expand::channels_last;

Values max_pool(const SourceNode& node, Builder& build) {
  MaxPool a;
  read_attributes_by_name(node, attr_class<MaxPool>(), &a);
  a.kernel = node.int_list("kernel_shape");
  return {channels_last(build, build.one(op_max_pool, a, {channels_first(build, node.input(0))}))};
}

Value* convolve(const SourceNode& node, Builder& build) {
  Conv a;
  read_attributes_by_name(node, attr_class<Conv>(), &a);
  a.groups = node.integer("group", 1);
  node.ignore("kernel_shape");  // the weights' own
  return build.one(op_conv, a, {channels_first(build, node.input(0)), node.input(1), node.optional(2)});
}
Values plain_conv(const SourceNode& node, Builder& build) { return {channels_last(build, convolve(node, build))}; }

Value* activate(const SourceNode& node, Builder& build, Value* x) {
  const std::string name = node.text("activation", "");
  const std::vector<float> given = node.floats("activation_params");
  const auto at = [&](size_t i, float otherwise) { return i < given.size() ? given[i] : otherwise; };
  if (name.empty()) return x;
  if (name == "Relu") return build.one(op_relu, {x});
  if (name == "Sigmoid") return build.one(op_sigmoid, {x});
  if (name == "Tanh") return build.one(op_tanh, {x});
  if (name == "LeakyRelu") return build.one(op_leaky_relu, UnaryParameters{.alpha = at(0, 0.01f)}, {x});
  if (name == "HardSigmoid")
    return build.one(op_hard_sigmoid, UnaryParameters{.alpha = at(0, 0.2f), .beta = at(1, 0.5f)}, {x});
  fail(Code::kUnsupportedOperator, "the fused activation `{}` is not supported", name);
}
Values fused_conv(const SourceNode& node, Builder& build) {
  Value* y = convolve(node, build);
  if (node.has_input(3)) y = build.one(op_add, {y, channels_first(build, node.input(3))});
  return {channels_last(build, activate(node, build, y))};
}

constexpr std::string_view kDomain = "com.microsoft";

}  // namespace

MICA_SPELLINGS(channels_last, {Format::kOnnx, kDomain, "NhwcMaxPool", 1, kLatest, max_pool},
               {Format::kOnnx, kDomain, "NhwcConv", 1, kLatest, plain_conv},
               {Format::kOnnx, kDomain, "NhwcFusedConv", 1, kLatest, fused_conv});

}  // namespace mica
