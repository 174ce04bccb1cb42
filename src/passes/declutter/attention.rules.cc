// Scaled dot-product attention, spelled out as products and a softmax.
#include "ops/attention/attention.h"
#include "ops/move/transpose.h"
#include "ops/reduce/softmax.h"
#include "passes/declutter/contents.h"
#include "passes/rewrite.h"

namespace mica {

MICA_DECLARE_OP(add);
MICA_DECLARE_OP(attention);
MICA_DECLARE_OP(div);
MICA_DECLARE_OP(is_nan);
MICA_DECLARE_OP(matmul);
MICA_DECLARE_OP(mul);
MICA_DECLARE_OP(softmax);
MICA_DECLARE_OP(transpose);
MICA_DECLARE_OP(where);

namespace {

const Node* made_by(const Value* value, const OpDef& op) {
  return value && value->producer && value->producer->op == &op && value->output == 0 ? value->producer : nullptr;
}

// y = x · number or x / number: returns x and multiplies `scale`; otherwise y itself.
Value* without_factor(Value* y, double& scale) {
  for (const OpDef* op : {&op_mul, &op_div}) {
    const Node* node = made_by(y, *op);
    if (!node) continue;
    for (size_t c : {size_t{1}, size_t{0}}) {
      const auto number = contents::uniform(node->inputs[c]);
      Value* x = node->inputs[1 - c];
      if (!number || !(x->type == y->type) || (op == &op_div && (c == 0 || *number == 0))) continue;
      scale = op == &op_mul ? scale * *number : scale / *number;
      return x;
    }
  }
  return y;
}

// The same below a transpose.
Value* operand(Value* y, double& scale, Builder& build) {
  Value* x = without_factor(y, scale);
  const Node* move = made_by(x, op_transpose);
  if (!move) return x;
  Value* below = without_factor(move->inputs[0], scale);
  return below == move->inputs[0] ? x : build.one(op_transpose, move->attributes<Transpose>(), {below});
}

bool is_last_softmax(const Node& node) {
  const int rank = node.inputs[0]->type.shape.rank;
  const int64_t axis = node.attributes<Softmax>().axis;
  return rank > 0 && (axis == -1 || axis == rank - 1);
}

// Keys and values belong to the same batches and heads as the queries, without broadcasting.
bool same_batches(const Value* a, const Value* b) {
  const Shape &s = a->type.shape, &r = b->type.shape;
  if (!s.known() || !r.known() || s.rank != r.rank || s.rank < 3 || s.rank > 4 || a->type.dtype != b->type.dtype)
    return false;
  for (int i = 0; i + 2 < s.rank; ++i)
    if (!(s[i] == r[i])) return false;
  return true;
}

// A summand of the scores that says something of every key. In three dimensions the operator has no axis for its
// batches.
bool usable_mask(const Value* mask, const Value* scores) {
  const Shape &s = mask->type.shape, &r = scores->type.shape;
  return s.known() && s.rank >= 1 && s.rank <= (r.rank == 4 ? 4 : 2) && s.back() == r.back() &&
         mask->type.dtype == scores->type.dtype;
}

// A row of softmax has NaN everywhere or nowhere: one NaN or infinity in it, or nothing but -inf, makes its sum NaN.
Value* zeros_for_nan(const Match& m, Builder& build) {
  const Node* weights = made_by(m["w"], op_softmax);
  const auto number = contents::uniform(m["zero"]);
  if (!weights || !number || *number != 0 || !(m.root->outputs[0]->type == m["w"]->type)) return nullptr;
  Softmax attributes = weights->attributes<Softmax>();
  attributes.zero_nan = true;
  return build.one(op_softmax, attributes, {weights->inputs[0]});
}

Value* attention(const Match& m, Builder& build) {
  Value* scores = m["scores"];
  Value* mask = nullptr;
  double scale = 1;
  if (const Node* sum = made_by(scores, op_add)) {
    const size_t from =
        made_by(sum->inputs[1], op_matmul) || made_by(sum->inputs[1], op_mul) || made_by(sum->inputs[1], op_div);
    mask = sum->inputs[1 - from];
    if (!(sum->inputs[from]->type == scores->type) || !usable_mask(mask, scores)) return nullptr;
    scores = sum->inputs[from];
  }
  const Node* product = made_by(without_factor(scores, scale), op_matmul);
  if (!product || !contents::is_float(scores)) return nullptr;
  Value* q = operand(product->inputs[0], scale, build);
  Value* turned = operand(product->inputs[1], scale, build);
  if (!made_by(turned, op_transpose) || !same_batches(q, turned) || !same_batches(q, m["v"]) || !(scale != 0))
    return nullptr;
  Transpose last_two;
  const int rank = q->type.shape.rank;
  for (int i = 0; i < rank; ++i) last_two.perm.push(i < rank - 2 ? i : 2 * rank - 3 - i);
  Value* k = build.one(op_transpose, last_two, {turned});
  Attention a{.scale = static_cast<float>(scale), .zero_nan = m.node("w").attributes<Softmax>().zero_nan};
  if (rank == 3) a.q_heads = a.kv_heads = 1;
  return build.one(op_attention, a, mask ? Values{q, k, m["v"], mask} : Values{q, k, m["v"]});
}

std::vector<Rule> make() {
  const Pattern weights = is(op_softmax, {any("scores")}).where(is_last_softmax).once().as("w");
  return {
      {"zeros-for-nan-of-softmax", "where(is_nan(softmax(x)), 0, softmax(x)) → softmax(x) with zeros for NaN",
       is(op_where, {is(op_is_nan, {any("w")}), any("zero"), any("w")}), zeros_for_nan},
      {"recognise-attention", "softmax(q · kᵀ · scale + mask) · v → attention(q, k, v, mask)",
       is(op_matmul, {weights, any("v")}), attention, &op_attention},
  };
}

}  // namespace

MICA_RULES(attention) = {.rank = 8, .make = make};

}  // namespace mica
