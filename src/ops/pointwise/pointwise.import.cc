// How element-wise operators are spelled.
#include <cmath>

#include "ir/spelling.h"
#include "ops/pointwise/cast.h"
#include "ops/pointwise/pointwise_op.h"

namespace mica {

MICA_DECLARE_OP(abs);
MICA_DECLARE_OP(acos);
MICA_DECLARE_OP(acosh);
MICA_DECLARE_OP(add);
MICA_DECLARE_OP(asin);
MICA_DECLARE_OP(asinh);
MICA_DECLARE_OP(atan);
MICA_DECLARE_OP(atanh);
MICA_DECLARE_OP(cast);
MICA_DECLARE_OP(ceil);
MICA_DECLARE_OP(celu);
MICA_DECLARE_OP(clip);
MICA_DECLARE_OP(cos);
MICA_DECLARE_OP(cosh);
MICA_DECLARE_OP(div);
MICA_DECLARE_OP(elu);
MICA_DECLARE_OP(erf);
MICA_DECLARE_OP(exp);
MICA_DECLARE_OP(floor);
MICA_DECLARE_OP(fmod);
MICA_DECLARE_OP(gelu);
MICA_DECLARE_OP(gelu_tanh);
MICA_DECLARE_OP(hard_sigmoid);
MICA_DECLARE_OP(hard_swish);
MICA_DECLARE_OP(identity);
MICA_DECLARE_OP(leaky_relu);
MICA_DECLARE_OP(log);
MICA_DECLARE_OP(max);
MICA_DECLARE_OP(min);
MICA_DECLARE_OP(mish);
MICA_DECLARE_OP(mod);
MICA_DECLARE_OP(mul);
MICA_DECLARE_OP(neg);
MICA_DECLARE_OP(pow);
MICA_DECLARE_OP(reciprocal);
MICA_DECLARE_OP(relu);
MICA_DECLARE_OP(round);
MICA_DECLARE_OP(selu);
MICA_DECLARE_OP(shrink);
MICA_DECLARE_OP(sigmoid);
MICA_DECLARE_OP(sign);
MICA_DECLARE_OP(silu);
MICA_DECLARE_OP(sin);
MICA_DECLARE_OP(sinh);
MICA_DECLARE_OP(softplus);
MICA_DECLARE_OP(softsign);
MICA_DECLARE_OP(sqrt);
MICA_DECLARE_OP(sub);
MICA_DECLARE_OP(tan);
MICA_DECLARE_OP(tanh);
MICA_DECLARE_OP(thresholded_relu);

namespace {

// Operands alone have a meaning.
template <const OpDef& op>
Values plain(const SourceNode& node, Builder& build) {
  node.ignore("consumed_inputs");  // a hint for memory reuse
  return build.add(op, node.inputs, 1);
}

// One or two parameters under the source's names; `null` where there is none.
struct ParameterNames {
  const char* alpha;
  float alpha_default;
  const char* beta = nullptr;
  float beta_default = 0;
};
Values parametric(const SourceNode& node, Builder& build, const OpDef& op, const ParameterNames& names) {
  node.ignore("consumed_inputs");
  UnaryParameters parameters{.alpha = node.number(names.alpha, names.alpha_default)};
  if (names.beta) parameters.beta = node.number(names.beta, names.beta_default);
  return build.add(op, parameters, node.inputs, 1);
}
Values leaky_relu(const SourceNode& node, Builder& build) {
  return parametric(node, build, op_leaky_relu, {"alpha", 0.01f});
}
Values elu(const SourceNode& node, Builder& build) { return parametric(node, build, op_elu, {"alpha", 1}); }
Values celu(const SourceNode& node, Builder& build) { return parametric(node, build, op_celu, {"alpha", 1}); }
Values selu(const SourceNode& node, Builder& build) {
  if (node.version < 6) return parametric(node, build, op_selu, {"alpha", 1.6732f, "gamma", 1.0507f});
  return parametric(node, build, op_selu, {"alpha", 1.67326319217681884765625f, "gamma", 1.05070102214813232421875f});
}
Values hard_sigmoid(const SourceNode& node, Builder& build) {
  return parametric(node, build, op_hard_sigmoid, {"alpha", 0.2f, "beta", 0.5f});
}
Values thresholded_relu(const SourceNode& node, Builder& build) {
  return parametric(node, build, op_thresholded_relu, {"alpha", 1});
}
Values swish(const SourceNode& node, Builder& build) { return parametric(node, build, op_silu, {"alpha", 1}); }
Values swiglu(const SourceNode& node, Builder& build) {
  Value* gate = build.one(op_silu, UnaryParameters{.alpha = node.number("alpha", 1)}, {node.input(0)});
  return build.add(op_mul, {gate, node.input(1)}, 1);
}
// Integers are computed as numbers of double precision and truncated.
template <class Make>
Values of_any_number(const SourceNode& node, Builder& build, Make make) {
  Value* x = node.input(0);
  const DType dtype = x->type.dtype;
  if (!is_integer(dtype)) return {make(x)};
  return {build.one(op_cast, Cast{.to = dtype}, {make(build.one(op_cast, Cast{.to = DType::kF64}, {x}))})};
}
Values shrink(const SourceNode& node, Builder& build) {
  const UnaryParameters parameters{.alpha = node.number("lambd", 0.5f), .beta = node.number("bias", 0)};
  return of_any_number(node, build, [&](Value* x) { return build.one(op_shrink, parameters, {x}); });
}
Values erf(const SourceNode& node, Builder& build) {
  return of_any_number(node, build, [&](Value* x) { return build.one(op_erf, {x}); });
}

Values gelu(const SourceNode& node, Builder& build) {
  const std::string form = node.text("approximate", "none");
  if (form != "none" && form != "tanh")
    fail(Code::kBadAttribute, "attribute `approximate` is `{}`, expected none or tanh", form);
  return build.add(form == "tanh" ? op_gelu_tanh : op_gelu, node.inputs, 1);
}

// ONNX Runtime's own spellings, as its optimiser writes them; the bias may be left out.
template <const OpDef& op>
Values biased(const SourceNode& node, Builder& build) {
  Value* x = node.has_input(1) ? build.one(op_add, {node.input(0), node.input(1)}) : node.input(0);
  return build.add(op, {x}, 1);
}
Values quick_gelu(const SourceNode& node, Builder& build) {
  return parametric(node, build, op_silu, {"alpha", 1.702f});
}

Values clip_by(Builder& build, Value* x, float low, float high) {
  return build.add(op_clip, UnaryParameters{.alpha = low, .beta = high}, {x}, 1);
}
Values clip_by_attributes(const SourceNode& node, Builder& build) {
  node.ignore("consumed_inputs");
  return clip_by(build, node.input(0), node.number("min", -INFINITY), node.number("max", INFINITY));
}

// Bounds that are known numbers become attributes, which are single precision; others are operands of max and min.
Values clip(const SourceNode& node, Builder& build) {
  Value* x = node.input(0);
  const DType dtype = x->type.dtype;
  const bool narrow = is_float(dtype) && dtype != DType::kF64;
  float bounds[2] = {-INFINITY, INFINITY};
  bool known = narrow;
  for (size_t i = 0; i < 2; ++i) {
    const Value* bound = node.optional(i + 1);
    const TensorView* contents = bound ? bound->contents() : nullptr;
    if (contents && contents->count() == 1) bounds[i] = static_cast<float>(Elements(*contents).number(0));
    known = known && (!bound || (contents && contents->count() == 1));
  }
  if (known) return clip_by(build, x, bounds[0], bounds[1]);
  if (node.has_input(1)) x = build.one(op_max, {x, node.input(1)});
  if (node.has_input(2)) x = build.one(op_min, {x, node.input(2)});
  return {x};
}

template <const OpDef& op>
Values fold(const SourceNode& node, Builder& build) {
  node.ignore("consumed_inputs");
  Value* result = node.input(0);
  for (size_t i = 1; i < node.inputs.size(); ++i) result = build.one(op, {result, node.input(i)});
  return node.inputs.size() == 1 ? build.add(op_identity, {result}, 1) : Values{result};
}

Values mean(const SourceNode& node, Builder& build) {
  Value* sum = fold<op_add>(node, build)[0];
  return build.add(op_div, {sum, build.scalar(sum->type.dtype, static_cast<double>(node.inputs.size()))}, 1);
}

Values mod(const SourceNode& node, Builder& build) {
  return build.add(node.integer("fmod", 0) ? op_fmod : op_mod, node.inputs, 1);
}

}  // namespace

MICA_SPELLINGS(
    pointwise, {Format::kOnnx, "", "Abs", 1, kLatest, plain<op_abs>},
    {Format::kOnnx, "", "Acos", 7, kLatest, plain<op_acos>}, {Format::kOnnx, "", "Acosh", 9, kLatest, plain<op_acosh>},
    {Format::kOnnx, "", "Asin", 7, kLatest, plain<op_asin>}, {Format::kOnnx, "", "Asinh", 9, kLatest, plain<op_asinh>},
    {Format::kOnnx, "", "Atan", 7, kLatest, plain<op_atan>}, {Format::kOnnx, "", "Atanh", 9, kLatest, plain<op_atanh>},
    {Format::kOnnx, "", "Ceil", 1, kLatest, plain<op_ceil>}, {Format::kOnnx, "", "Celu", 12, kLatest, celu},
    {Format::kOnnx, "", "Clip", 1, 10, clip_by_attributes}, {Format::kOnnx, "", "Clip", 11, kLatest, clip},
    {Format::kOnnx, "", "Cos", 7, kLatest, plain<op_cos>}, {Format::kOnnx, "", "Cosh", 9, kLatest, plain<op_cosh>},
    {Format::kOnnx, "", "Elu", 1, kLatest, elu}, {Format::kOnnx, "", "Erf", 9, kLatest, erf},
    {Format::kOnnx, "", "Exp", 1, kLatest, plain<op_exp>}, {Format::kOnnx, "", "Floor", 1, kLatest, plain<op_floor>},
    {Format::kOnnx, "", "Gelu", 20, kLatest, gelu}, {Format::kOnnx, "", "HardSigmoid", 1, kLatest, hard_sigmoid},
    {Format::kOnnx, "", "HardSwish", 14, kLatest, plain<op_hard_swish>},
    {Format::kOnnx, "", "LeakyRelu", 1, kLatest, leaky_relu}, {Format::kOnnx, "", "Log", 1, kLatest, plain<op_log>},
    {Format::kOnnx, "", "Max", 1, kLatest, fold<op_max>}, {Format::kOnnx, "", "Mean", 1, kLatest, mean},
    {Format::kOnnx, "", "Min", 1, kLatest, fold<op_min>}, {Format::kOnnx, "", "Mish", 18, kLatest, plain<op_mish>},
    {Format::kOnnx, "", "Mod", 10, kLatest, mod}, {Format::kOnnx, "", "Neg", 1, kLatest, plain<op_neg>},
    {Format::kOnnx, "", "Reciprocal", 1, kLatest, plain<op_reciprocal>},
    {Format::kOnnx, "", "Relu", 1, kLatest, plain<op_relu>}, {Format::kOnnx, "", "Round", 11, kLatest, plain<op_round>},
    {Format::kOnnx, "", "Selu", 1, kLatest, selu}, {Format::kOnnx, "", "Shrink", 9, kLatest, shrink},
    {Format::kOnnx, "", "Sigmoid", 1, kLatest, plain<op_sigmoid>},
    {Format::kOnnx, "", "Sign", 9, kLatest, plain<op_sign>}, {Format::kOnnx, "", "Sin", 7, kLatest, plain<op_sin>},
    {Format::kOnnx, "", "Sinh", 9, kLatest, plain<op_sinh>},
    {Format::kOnnx, "", "Softplus", 1, kLatest, plain<op_softplus>},
    {Format::kOnnx, "", "Softsign", 1, kLatest, plain<op_softsign>},
    {Format::kOnnx, "", "Sqrt", 1, kLatest, plain<op_sqrt>}, {Format::kOnnx, "", "Sum", 1, kLatest, fold<op_add>},
    {Format::kOnnx, "", "SwiGLU", 28, kLatest, swiglu},
    {Format::kOnnx, "com.microsoft", "BiasGelu", 1, kLatest, biased<op_gelu>},
    {Format::kOnnx, "com.microsoft", "FastGelu", 1, kLatest, biased<op_gelu_tanh>},
    {Format::kOnnx, "com.microsoft", "Gelu", 1, kLatest, biased<op_gelu>},
    {Format::kOnnx, "com.microsoft", "QuickGelu", 1, kLatest, quick_gelu},
    {Format::kOnnx, "", "Swish", 24, kLatest, swish}, {Format::kOnnx, "", "Tan", 7, kLatest, plain<op_tan>},
    {Format::kOnnx, "", "Tanh", 1, kLatest, plain<op_tanh>},
    {Format::kOnnx, "", "ThresholdedRelu", 1, kLatest, thresholded_relu});

}  // namespace mica
