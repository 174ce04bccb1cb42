// Functions that exporters spell out in small steps.
#include "ops/norm/layer_norm.h"
#include "ops/pointwise/pointwise_op.h"
#include "ops/reduce/reduce.h"
#include "passes/declutter/contents.h"
#include "passes/rewrite.h"

namespace mica {

MICA_DECLARE_OP(add);
MICA_DECLARE_OP(clip);
MICA_DECLARE_OP(div);
MICA_DECLARE_OP(erf);
MICA_DECLARE_OP(exp);
MICA_DECLARE_OP(gelu);
MICA_DECLARE_OP(gelu_tanh);
MICA_DECLARE_OP(hard_sigmoid);
MICA_DECLARE_OP(hard_swish);
MICA_DECLARE_OP(layer_norm);
MICA_DECLARE_OP(mish);
MICA_DECLARE_OP(mul);
MICA_DECLARE_OP(pow);
MICA_DECLARE_OP(reduce);
MICA_DECLARE_OP(rms_norm);
MICA_DECLARE_OP(sigmoid);
MICA_DECLARE_OP(silu);
MICA_DECLARE_OP(softplus);
MICA_DECLARE_OP(sqrt);
MICA_DECLARE_OP(square);
MICA_DECLARE_OP(sub);
MICA_DECLARE_OP(tanh);

namespace {

using contents::is_number;

template <const OpDef& op>
Value* one_of_x(const Match& m, Builder& build) { return build.one(op, {m["x"]}); }

Value* silu(const Match& m, Builder& build) { return build.one(op_silu, UnaryParameters{.alpha = 1, .beta = 0}, {m["x"]}); }

// x/√2 may be written as a division or as a product.
bool is_root_half(const Match& m) { return is_number(m["root"], M_SQRT2) || is_number(m["root"], M_SQRT1_2); }
Value* gelu(const Match& m, Builder& build) {
  const bool divides = m.node("inner").op == &op_div;
  if (!is_root_half(m) || is_number(m["root"], M_SQRT2) != divides || !is_number(m["one"], 1) || !is_number(m["half"], 0.5)) return nullptr;
  return build.one(op_gelu, {m["x"]});
}
Pattern erf_part(const OpDef& scale) { return is(op_add, {is(op_erf, {is(scale, {any("x"), constant("root")}).either().as("inner")}), constant("one")}).either(); }

// x · relu6(x + 3) / 6, and x · hard_sigmoid(x) with its usual parameters.
Value* hard_swish(const Match& m, Builder& build) {
  const auto& p = m.node("gate").attributes<UnaryParameters>();
  const auto near = [](float a, double b) { return std::fabs(static_cast<double>(a) - b) < 1e-6; };
  if (m.node("gate").op == &op_hard_sigmoid) {
    if (!near(p.alpha, 1.0 / 6) || !near(p.beta, 0.5)) return nullptr;
  } else if (!near(p.alpha, 0) || !near(p.beta, 6) || !is_number(m["three"], 3) || !(is_number(m["six"], m.root->op == &op_div ? 6.0 : 1.0 / 6))) {
    return nullptr;
  }
  return build.one(op_hard_swish, {m["x"]});
}

// relu6(x + 3) / 6 alone.
Value* hard_sigmoid(const Match& m, Builder& build) {
  const auto& p = m.node("gate").attributes<UnaryParameters>();
  if (p.alpha != 0 || p.beta != 6 || !is_number(m["three"], 3) || !is_number(m["six"], m.root->op == &op_div ? 6.0 : 1.0 / 6)) return nullptr;
  return build.one(op_hard_sigmoid, UnaryParameters{.alpha = 1.0f / 6, .beta = 0.5f}, {m["x"]});
}

// A mean over exactly the last axis, which stays.
bool is_last_mean(const Node& node) {
  const auto& a = node.attributes<Reduce>();
  const int rank = node.inputs[0]->type.shape.rank;
  if (a.kind != ReduceKind::kMean || !a.keep_dims || node.inputs.size() != 2 || !node.inputs[1] || rank < 1) return false;
  const Value* axes = node.inputs[1];
  return axes->has_values && axes->values.size() == 1 && (axes->values[0].is(-1) || axes->values[0].is(rank - 1));
}
Pattern mean_of(Pattern x) { return is(op_reduce, {std::move(x), any("")}).where(is_last_mean); }

bool is_last_vector(const Value* v, const Value* x) {
  const Shape &s = v->type.shape, &r = x->type.shape;
  if (!s.fixed() || s.rank < 1 || s.rank > r.rank || v->type.dtype != x->type.dtype || !(s.back() == r.back())) return false;
  for (int i = 0; i + 1 < s.rank; ++i) if (!s[i].is(1)) return false;
  return true;
}
Value* flat(Value* v, Builder& build) {
  const int64_t dims[] = {v->constant->view.count()};
  return build.constant(v->type.dtype, dims, v->constant->view.data);
}

Value* layer_norm(const Match& m, Builder& build) {
  const auto epsilon = contents::uniform(m["epsilon"]);
  if (!epsilon || !contents::is_float(m["x"]) || !m["x"]->type.shape.known()) return nullptr;
  if (m.has("two") && !is_number(m["two"], 2)) return nullptr;
  if (!is_last_vector(m["scale"], m["x"]) || !is_last_vector(m["shift"], m["x"])) return nullptr;
  const LayerNorm a{.axis = -1, .epsilon = static_cast<float>(*epsilon), .statistics = DType::kF32};
  return build.one(op_layer_norm, a, {m["x"], flat(m["scale"], build), flat(m["shift"], build)});
}
Pattern layer_norm_pattern(Pattern squared) {
  const Pattern root = is(op_sqrt, {is(op_add, {mean_of(std::move(squared)), constant("epsilon")}).either()});
  const Pattern normal = is(op_div, {is(op_sub, {any("x"), mean_of(any("x"))}).as("centred"), root});
  return is(op_add, {is(op_mul, {normal, constant("scale")}).either(), constant("shift")}).either();
}

std::vector<Rule> make() {
  const auto half_of = [](Pattern p) { return is(op_mul, {std::move(p), constant("half")}).either(); };
  const auto product = [](Pattern a, Pattern b) { return is(op_mul, {std::move(a), std::move(b)}).either(); };
  const auto shifted_clip = [] { return is(op_clip, {is(op_add, {any("x"), constant("three")}).either()}).as("gate"); };
  return {
      {"recognise-silu", "x · sigmoid(x) → silu(x)", product(any("x"), is(op_sigmoid, {any("x")})), silu},
      {"recognise-mish", "x · tanh(softplus(x)) → mish(x)", product(any("x"), is(op_tanh, {is(op_softplus, {any("x")})})), one_of_x<op_mish>},
      {"recognise-gelu", "(x · (1 + erf(x / √2))) · ½ → gelu(x)", half_of(product(any("x"), erf_part(op_div))), gelu},
      {"recognise-gelu-of-product", "(x · (1 + erf(x · √½))) · ½ → gelu(x)", half_of(product(any("x"), erf_part(op_mul))), gelu},
      {"recognise-gelu-half-first", "(x · ½) · (1 + erf(x / √2)) → gelu(x)", product(half_of(any("x")), erf_part(op_div)), gelu},
      {"recognise-gelu-half-first-of-product", "(x · ½) · (1 + erf(x · √½)) → gelu(x)", product(half_of(any("x")), erf_part(op_mul)), gelu},
      {"recognise-hard-swish", "x · hard_sigmoid(x) → hard_swish(x)", product(any("x"), is(op_hard_sigmoid, {any("x")}).as("gate")), hard_swish},
      {"recognise-hard-swish-of-clip", "x · clip(x + 3, 0, 6) / 6 → hard_swish(x)", is(op_div, {product(any("x"), shifted_clip()), constant("six")}), hard_swish},
      {"recognise-hard-sigmoid", "clip(x + 3, 0, 6) / 6 → hard_sigmoid(x)", is(op_div, {shifted_clip().once(), constant("six")}), hard_sigmoid},
      {"recognise-hard-sigmoid-of-product", "clip(x + 3, 0, 6) · ⅙ → hard_sigmoid(x)", is(op_mul, {shifted_clip().once(), constant("six")}).either(), hard_sigmoid},
      {"recognise-layer-norm", "(x - mean) / √(mean((x - mean)²) + ε) · s + t → layer_norm(x)",
       layer_norm_pattern(is(op_pow, {any("centred"), constant("two")})), layer_norm},
      {"recognise-layer-norm-of-product", "the same with (x - mean) · (x - mean)", layer_norm_pattern(is(op_mul, {any("centred"), any("centred")})), layer_norm},
  };
}

}  // namespace

MICA_RULES(composites) = {.rank = 5, .make = make};

}  // namespace mica
