// One form for powers, so that what is built of them is recognised however it was written.
#include "passes/declutter/contents.h"
#include "passes/rewrite.h"

namespace mica {

MICA_DECLARE_OP(add);
MICA_DECLARE_OP(div);
MICA_DECLARE_OP(exp);
MICA_DECLARE_OP(mul);
MICA_DECLARE_OP(neg);
MICA_DECLARE_OP(pow);
MICA_DECLARE_OP(reciprocal);
MICA_DECLARE_OP(rsqrt);
MICA_DECLARE_OP(sigmoid);
MICA_DECLARE_OP(sqrt);
MICA_DECLARE_OP(square);

namespace {

using contents::is_number;

bool same_type(const Match& m) {
  const Type& type = m.root->outputs[0]->type;
  return contents::is_float(m["x"]) && type.shape.known() && m["x"]->type == type;
}

Value* square(const Match& m, Builder& build) {
  if (!same_type(m) || (m.has("two") && !is_number(m["two"], 2))) return nullptr;
  return build.one(op_square, {m["x"]});
}

// As torch computes it; the roots of -0 and of -∞ are -0 and NaN then.
Value* root(const Match& m, Builder& build) {
  return same_type(m) && is_number(m["half"], 0.5) ? build.one(op_sqrt, {m["x"]}) : nullptr;
}

Value* cube(const Match& m, Builder& build) {
  if (!same_type(m) || !is_number(m["three"], 3)) return nullptr;
  return build.one(op_mul, {m["x"], build.one(op_square, {m["x"]})});
}

Value* reciprocal(const Match& m, Builder& build) {
  if (!same_type(m) || !is_number(m["one"], 1)) return nullptr;
  return build.one(op_reciprocal, {m["x"]});
}

Value* rsqrt(const Match& m, Builder& build) { return build.one(op_rsqrt, {m["x"]}); }

Value* sigmoid(const Match& m, Builder& build) {
  return same_type(m) && is_number(m["one"], 1) ? build.one(op_sigmoid, {m["x"]}) : nullptr;
}

std::vector<Rule> make() {
  const Pattern one_plus_exp = is(op_add, {is(op_exp, {is(op_neg, {any("x")})}), constant("one")}).either();
  return {
      {"pow-two", "pow(x, 2) → square(x)", is(op_pow, {any("x"), constant("two")}), square},
      {"pow-half", "pow(x, ½) → sqrt(x)", is(op_pow, {any("x"), constant("half")}), root},
      {"product-of-itself", "x · x → square(x)", is(op_mul, {any("x"), any("x")}), square},
      {"pow-three", "pow(x, 3) → x · square(x)", is(op_pow, {any("x"), constant("three")}), cube},
      {"one-over", "1 / x → reciprocal(x)", is(op_div, {constant("one"), any("x")}), reciprocal},
      {"reciprocal-of-root", "reciprocal(sqrt(x)) → rsqrt(x)", is(op_reciprocal, {is(op_sqrt, {any("x")})}), rsqrt},
      {"recognise-sigmoid", "reciprocal(1 + exp(-x)) → sigmoid(x)", is(op_reciprocal, {one_plus_exp}), sigmoid},
  };
}

}  // namespace

MICA_RULES(powers) = {.rank = 2, .make = make};

}  // namespace mica
