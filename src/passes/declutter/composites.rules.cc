// Functions that exporters spell out in small steps.
#include "ops/pointwise/pointwise_op.h"
#include "passes/declutter/contents.h"
#include "passes/rewrite.h"

namespace mica {

MICA_DECLARE_OP(abs);
MICA_DECLARE_OP(add);
MICA_DECLARE_OP(clip);
MICA_DECLARE_OP(div);
MICA_DECLARE_OP(erf);
MICA_DECLARE_OP(exp);
MICA_DECLARE_OP(gelu);
MICA_DECLARE_OP(gelu_tanh);
MICA_DECLARE_OP(hard_sigmoid);
MICA_DECLARE_OP(hard_swish);
MICA_DECLARE_OP(log);
MICA_DECLARE_OP(mish);
MICA_DECLARE_OP(mul);
MICA_DECLARE_OP(neg);
MICA_DECLARE_OP(prelu);
MICA_DECLARE_OP(relu);
MICA_DECLARE_OP(sigmoid);
MICA_DECLARE_OP(silu);
MICA_DECLARE_OP(softplus);
MICA_DECLARE_OP(square);
MICA_DECLARE_OP(sub);
MICA_DECLARE_OP(tanh);

namespace {

using contents::is_number;

// Constants may be larger than x, and the result with them.
bool keeps_shape(const Match& m) { return m["x"]->type == m.root->outputs[0]->type; }

template <const OpDef& op>
Value* one_of_x(const Match& m, Builder& build) {
  return build.one(op, {m["x"]});
}

Value* silu(const Match& m, Builder& build) {
  return build.one(op_silu, UnaryParameters{.alpha = 1, .beta = 0}, {m["x"]});
}

// x/√2 may be written as a division or as a product.
bool is_root_half(const Match& m) { return is_number(m["root"], M_SQRT2) || is_number(m["root"], M_SQRT1_2); }
Value* gelu(const Match& m, Builder& build) {
  const bool divides = m.node("inner").op == &op_div;
  if (!keeps_shape(m) || !is_root_half(m) || is_number(m["root"], M_SQRT2) != divides || !is_number(m["one"], 1) ||
      !is_number(m["half"], 0.5))
    return nullptr;
  return build.one(op_gelu, {m["x"]});
}
Pattern erf_part(const OpDef& scale) {
  const Pattern inner = is(scale, {any("x"), constant("root")}).as("inner");
  return is(op_add, {is(op_erf, {&scale == &op_mul ? inner.either() : inner}), constant("one")}).either();
}

// x · relu6(x + 3) / 6, and x · hard_sigmoid(x) with its usual parameters.
Value* hard_swish(const Match& m, Builder& build) {
  if (!keeps_shape(m)) return nullptr;
  const auto& p = m.node("gate").attributes<UnaryParameters>();
  const auto near = [](float a, double b) { return std::fabs(static_cast<double>(a) - b) < 1e-6; };
  if (m.node("gate").op == &op_hard_sigmoid) {
    if (!near(p.alpha, 1.0 / 6) || !near(p.beta, 0.5)) return nullptr;
  } else if (!near(p.alpha, 0) || !near(p.beta, 6) || !is_number(m["three"], 3) ||
             !(is_number(m["six"], m.root->op == &op_div ? 6.0 : 1.0 / 6))) {
    return nullptr;
  }
  return build.one(op_hard_swish, {m["x"]});
}

// relu6(x + 3) / 6 alone.
Value* hard_sigmoid(const Match& m, Builder& build) {
  const auto& p = m.node("gate").attributes<UnaryParameters>();
  if (!keeps_shape(m) || p.alpha != 0 || p.beta != 6 || !is_number(m["three"], 3) ||
      !is_number(m["six"], m.root->op == &op_div ? 6.0 : 1.0 / 6))
    return nullptr;
  return build.one(op_hard_sigmoid, UnaryParameters{.alpha = 1.0f / 6, .beta = 0.5f}, {m["x"]});
}

// ½ · x · (1 + tanh(√(2/π) · (x + 0.044715 · x³))), in whichever order the products stand.
Value* gelu_tanh(const Match& m, Builder& build) {
  const bool fits = keeps_shape(m) && is_number(m["one"], 1) && is_number(m["half"], 0.5) &&
                    is_number(m["cubic"], 0.044715) && is_number(m["factor"], std::sqrt(2 / M_PI));
  return fits ? build.one(op_gelu_tanh, {m["x"]}) : nullptr;
}
Pattern product(Pattern a, Pattern b) { return is(op_mul, {std::move(a), std::move(b)}).either(); }
Pattern tanh_part() {
  const Pattern cube = product(any("x"), is(op_square, {any("x")}));
  const Pattern inner = is(op_add, {any("x"), product(cube, constant("cubic"))}).either();
  return is(op_add, {is(op_tanh, {product(inner, constant("factor"))}), constant("one")}).either();
}

Value* softplus(const Match& m, Builder& build) {
  const bool fits = contents::is_float(m["x"]) && is_number(m["one"], 1) && keeps_shape(m);
  return fits ? build.one(op_softplus, {m["x"]}) : nullptr;
}

// relu(x) and a slope times what is below 0, in which the slope does not make x larger. kNegated: times what is below 0
// without its sign.
template <bool kNegated>
Value* prelu(const Match& m, Builder& build) {
  if (!contents::is_float(m["x"]) || !keeps_shape(m) || m["x"]->type.dtype != m["slope"]->type.dtype) return nullptr;
  if (m.has("half") && !is_number(m["half"], 0.5)) return nullptr;
  return build.one(op_prelu, {m["x"], kNegated ? build.one(op_neg, {m["slope"]}) : m["slope"]});
}

std::vector<Rule> make() {
  const auto above = [] { return is(op_relu, {any("x")}); };
  const auto below = [] { return product(is(op_relu, {is(op_neg, {any("x")})}), constant("slope")); };
  const auto doubled = [] { return is(op_sub, {any("x"), is(op_abs, {any("x")})}); };
  const auto half_of = [](Pattern p) { return is(op_mul, {std::move(p), constant("half")}).either(); };
  const auto shifted_clip = [] { return is(op_clip, {is(op_add, {any("x"), constant("three")}).either()}).as("gate"); };
  return {
      {"recognise-silu", "x · sigmoid(x) → silu(x)", product(any("x"), is(op_sigmoid, {any("x")})), silu},
      {"recognise-mish", "x · tanh(softplus(x)) → mish(x)",
       product(any("x"), is(op_tanh, {is(op_softplus, {any("x")})})), one_of_x<op_mish>},
      {"recognise-gelu", "(x · (1 + erf(x / √2))) · ½ → gelu(x)", half_of(product(any("x"), erf_part(op_div))), gelu},
      {"recognise-gelu-of-product", "(x · (1 + erf(x · √½))) · ½ → gelu(x)",
       half_of(product(any("x"), erf_part(op_mul))), gelu},
      {"recognise-gelu-half-first", "(x · ½) · (1 + erf(x / √2)) → gelu(x)",
       product(half_of(any("x")), erf_part(op_div)), gelu},
      {"recognise-gelu-half-first-of-product", "(x · ½) · (1 + erf(x · √½)) → gelu(x)",
       product(half_of(any("x")), erf_part(op_mul)), gelu},
      {"recognise-hard-swish", "x · hard_sigmoid(x) → hard_swish(x)",
       product(any("x"), is(op_hard_sigmoid, {any("x")}).as("gate")), hard_swish},
      {"recognise-hard-swish-of-clip", "x · clip(x + 3, 0, 6) / 6 → hard_swish(x)",
       is(op_div, {product(any("x"), shifted_clip()), constant("six")}), hard_swish},
      {"recognise-hard-sigmoid", "clip(x + 3, 0, 6) / 6 → hard_sigmoid(x)",
       is(op_div, {shifted_clip().once(), constant("six")}), hard_sigmoid},
      {"recognise-hard-sigmoid-of-product", "clip(x + 3, 0, 6) · ⅙ → hard_sigmoid(x)",
       is(op_mul, {shifted_clip().once(), constant("six")}).either(), hard_sigmoid},
      {"recognise-hard-swish-of-product", "x · clip(x + 3, 0, 6) · ⅙ → hard_swish(x)",
       is(op_mul, {product(any("x"), shifted_clip()), constant("six")}).either(), hard_swish},
      {"recognise-gelu-half-last", "x · ((1 + erf(x / √2)) · ½) → gelu(x)",
       product(any("x"), half_of(erf_part(op_div))), gelu},
      {"recognise-gelu-half-last-of-product", "x · ((1 + erf(x · √½)) · ½) → gelu(x)",
       product(any("x"), half_of(erf_part(op_mul))), gelu},
      {"recognise-gelu-tanh", "(x · (1 + tanh(…))) · ½ → gelu_tanh(x)", half_of(product(any("x"), tanh_part())),
       gelu_tanh},
      {"recognise-gelu-tanh-half-first", "(x · ½) · (1 + tanh(…)) → gelu_tanh(x)",
       product(half_of(any("x")), tanh_part()), gelu_tanh},
      {"recognise-gelu-tanh-half-last", "x · ((1 + tanh(…)) · ½) → gelu_tanh(x)",
       product(any("x"), half_of(tanh_part())), gelu_tanh},
      {"recognise-prelu", "relu(x) + relu(-x) · a → prelu(x, -a)", is(op_add, {above(), below()}).either(),
       prelu<true>},
      {"recognise-prelu-of-difference", "relu(x) - relu(-x) · a → prelu(x, a)", is(op_sub, {above(), below()}),
       prelu<false>},
      {"recognise-prelu-of-abs", "relu(x) + (x - |x|) · a · ½ → prelu(x, a)",
       is(op_add, {above(), half_of(product(doubled(), constant("slope")))}).either(), prelu<false>},
      {"recognise-prelu-of-half-abs", "relu(x) + (x - |x|) · ½ · a → prelu(x, a)",
       is(op_add, {above(), product(half_of(doubled()), constant("slope"))}).either(), prelu<false>},
      {"recognise-softplus", "log(1 + exp(x)) → softplus(x)",
       is(op_log, {is(op_add, {is(op_exp, {any("x")}), constant("one")}).either()}), softplus},
  };
}

}  // namespace

MICA_RULES(composites) = {.rank = 5, .make = make};

}  // namespace mica
