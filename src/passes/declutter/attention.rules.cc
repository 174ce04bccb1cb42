// Scaled dot-product attention, spelled out as products and a softmax.
#include <algorithm>
#include <cmath>
#include <optional>

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

// What softmax takes: (q · turned) · scale + mask.
struct Scores {
  Value *q = nullptr, *turned = nullptr;  // [..., queries, size] and [..., size, keys]
  double scale = 1;
  Value* mask = nullptr;
};

// A summand of the scores that says something of every key.
bool usable_mask(const Value* mask, const Value* scores) {
  const Shape &s = mask->type.shape, &r = scores->type.shape;
  return s.known() && s.rank >= 1 && s.rank <= r.rank && s.back() == r.back() && mask->type.dtype == scores->type.dtype;
}

// A factor of the scores that may as well be one of the queries.
bool usable_factor(const Value* factor, const Value* scores) {
  const Shape &s = factor->type.shape, &r = scores->type.shape;
  return s.known() && s.rank >= 2 && s.rank <= r.rank && s.back().is(1) && s[s.rank - 2].is(1) &&
         factor->type.dtype == scores->type.dtype;
}

Value* with_mask(Value* mask, Value* more, double scale, Builder& build) {
  if (scale != 1) more = build.one(op_mul, {more, build.scalar(more->type.dtype, scale)});
  return mask ? build.one(op_add, {mask, more}) : more;
}

// An operand of one dimension less than q's, whose first is 1, has it too.
Value* as_many_dims(Value* x, const Shape& q, Builder& build) {
  const Shape& s = x->type.shape;
  if (!s.known() || s.rank + 1 != q.rank || !q[0].is(1)) return x;
  Shape more{Dim(1)};
  for (Dim d : s.span()) more.push(d);
  Value* made = contents::reshaped(build, x, more);
  return made ? made : x;
}

// Whether all axes but the last two, which are a matrix's, agree.
bool same_front(const Shape& a, const Shape& b) {
  return a.known() && b.known() && a.rank == b.rank && a.rank >= 2 &&
         std::ranges::equal(a.span().first(static_cast<size_t>(a.rank - 2)),
                            b.span().first(static_cast<size_t>(b.rank - 2)));
}

// x with the axes of `shape` in front of its last two; null when they cannot be said.
Value* with_batches(Value* x, const Shape& shape, Builder& build) {
  const Shape& s = x->type.shape;
  if (!s.known() || !shape.known() || s.rank < 2 || shape.rank < 2) return nullptr;
  Shape wanted = shape;
  wanted[shape.rank - 2] = s[s.rank - 2];
  wanted[shape.rank - 1] = s.back();
  return s == wanted ? x : contents::reshaped(build, x, wanted);
}

// Behind a reshape of the scores that leaves queries and keys alone, operands have the new batches and heads. False for
// another reshape, and where a mask differs along axes that are joined or parted.
bool in_batches_of(Scores& scores, const Shape& from, const Shape& to, Builder& build) {
  int same = 0;
  while (same < std::min(from.rank, to.rank) && from[from.rank - 1 - same] == to[to.rank - 1 - same]) ++same;
  if (same < 2 || !same_front(scores.q->type.shape, from)) return false;
  scores.turned = as_many_dims(scores.turned, scores.q->type.shape, build);
  if (!same_front(scores.turned->type.shape, from)) return false;
  if (scores.mask && scores.mask->type.shape.rank > same) {
    const Shape mask = scores.mask->type.shape;
    Shape last;
    last.rank = 0;
    for (int i = 0; i < mask.rank; ++i) {
      if (i >= mask.rank - same)
        last.push(mask[i]);
      else if (!mask[i].is(1))
        return false;
    }
    if (!(scores.mask = contents::reshaped(build, scores.mask, last))) return false;
  }
  scores.q = with_batches(scores.q, to, build);
  scores.turned = with_batches(scores.turned, to, build);
  return scores.q && scores.turned;
}

// Follows scores, which are multiplied by `scale`, back to their product. Masks and factors stand in any order; which
// operand of a sum is the mask shows by where the product is.
std::optional<Scores> scores_of(Value* y, double scale, int depth, Builder& build) {
  y = without_factor(y, scale);
  if (const Node* product = made_by(y, op_matmul))
    return Scores{.q = product->inputs[0], .turned = product->inputs[1], .scale = scale};
  if (const Node* join = made_by(y, op_reshape)) {
    auto found = depth > 0 ? scores_of(join->inputs[0], scale, depth - 1, build) : std::nullopt;
    return found && in_batches_of(*found, join->inputs[0]->type.shape, y->type.shape, build) ? found : std::nullopt;
  }
  for (const OpDef* op : {&op_add, &op_mul}) {
    const Node* node = made_by(y, *op);
    for (size_t from = 0; node && depth > 0 && from < 2; ++from) {
      Value *inner = node->inputs[from], *other = node->inputs[1 - from];
      if (!(inner->type == y->type) || !(op == &op_add ? usable_mask(other, y) : usable_factor(other, y))) continue;
      auto found = scores_of(inner, scale, depth - 1, build);
      if (!found) continue;
      if (op == &op_add) {
        found->mask = with_mask(found->mask, other, scale, build);
      } else {
        Value* q = build.one(op_mul, {found->q, other});
        if (found->mask || !(q->type == found->q->type)) return {};
        found->q = q;
      }
      return found;
    }
  }
  return {};
}

// Two operands belong to the same batches and heads; `shared`: the second may have one head for all.
bool same_batches(const Value* a, const Value* b, bool shared) {
  const Shape &s = a->type.shape, &r = b->type.shape;
  if (s.rank < 3 || s.rank > 5 || a->type.dtype != b->type.dtype) return false;
  return same_front(s, r) || (shared && s.rank == 4 && r.rank == 4 && s[0] == r[0] && r[1].is(1));
}

// Operands as the operator takes them, [batch, heads, rows, columns]: three dimensions have one head, two batches of
// five become one. Null when their shape cannot be said.
Value* in_four_dims(Value* x, Builder& build) {
  const Shape& s = x->type.shape;
  if (s.rank == 4) return x;
  DimTable& dims = *build.graph().dims;
  const Shape four = s.rank == 3 ? Shape{s[0], Dim(1), s[1], s[2]} : Shape{dims.mul(s[0], s[1]), s[2], s[3], s[4]};
  return contents::reshaped(build, x, four);
}

// A mask of scores whose shape is `scores`, for scores in four dimensions.
Value* mask_in_four_dims(Value* mask, const Shape& scores, Builder& build) {
  const Shape& s = mask->type.shape;
  if (scores.rank == 4 || s.rank <= 2 || (s.rank == 3 && scores.rank == 5)) return mask;
  if (s.rank == 4) return s[0].is(1) || scores[0].is(1) ? mask : nullptr;
  if (s.rank == 3 || (s[0] == scores[0] && s[1] == scores[1])) return in_four_dims(mask, build);
  return s[0].is(1) && (s[1].is(1) || scores[0].is(1)) ? in_four_dims(mask, build) : nullptr;
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

// The last two dimensions change places.
Value* turned_back(Value* x, Builder& build) {
  Transpose last_two;
  const int rank = x->type.shape.rank;
  for (int i = 0; i < rank; ++i) last_two.perm.push(i < rank - 2 ? i : 2 * rank - 3 - i);
  return build.one(op_transpose, last_two, {x});
}

// softmax · v as one operator, or null.
Value* fused(const Node& softmax, Value* v, Builder& build) {
  auto found = scores_of(softmax.inputs[0], 1, 6, build);
  if (!found || !contents::is_float(found->q)) return nullptr;
  Value* q = operand(found->q, found->scale, build);
  Value* turned = as_many_dims(operand(found->turned, found->scale, build), q->type.shape, build);
  v = as_many_dims(v, q->type.shape, build);
  if (!same_batches(q, turned, true) || !same_batches(turned, v, false) || found->scale == 0 ||
      std::isnan(found->scale))
    return nullptr;
  Attention a{.scale = static_cast<float>(found->scale), .zero_nan = softmax.attributes<Softmax>().zero_nan};
  Value *k = turned_back(turned, build), *mask = found->mask;
  const Shape whole = v->type.shape, scores = softmax.inputs[0]->type.shape;
  const bool three = whole.rank == 3 && (!mask || mask->type.shape.rank < 3);
  if (three) {
    a.q_heads = a.kv_heads = 1;
  } else {
    q = in_four_dims(q, build), k = in_four_dims(k, build), v = in_four_dims(v, build);
    if (mask && !(mask = mask_in_four_dims(mask, scores, build))) return nullptr;
    if (!q || !k || !v) return nullptr;
  }
  Value* y = build.one(op_attention, a, mask ? Values{q, k, v, mask} : Values{q, k, v});
  Shape out = scores;
  out[out.rank - 1] = whole.back();
  return three || whole.rank == 4 ? y : contents::reshaped(build, y, out);
}

Value* attention(const Match& m, Builder& build) { return fused(m.node("w"), m["v"], build); }

// Batches and heads are joined or parted between softmax and the product.
Value* attention_of_other_batches(const Match& m, Builder& build) {
  const Shape &from = m["w"]->type.shape, &to = m["r"]->type.shape;
  const int n = from.rank, k = to.rank;
  if (!from.known() || !to.known() || n < 3 || k < 3 || !(from[n - 1] == to[k - 1]) || !(from[n - 2] == to[k - 2]))
    return nullptr;
  if (!same_front(m["v"]->type.shape, to)) return nullptr;
  Value* v = with_batches(m["v"], from, build);
  Value* y = v ? fused(m.node("w"), v, build) : nullptr;
  return y ? contents::reshaped(build, y, m.root->outputs[0]->type.shape) : nullptr;
}

// The product the other way round, vᵀ · softmaxᵀ, where values have one column for each key.
Value* turned_attention(const Match& m, Builder& build) {
  const int rank = m["w"]->type.shape.rank;
  if (rank < 3 || m["v"]->type.shape.rank != rank || !contents::swaps_last_two(m.node("t"))) return nullptr;
  Value* y = fused(m.node("w"), turned_back(m["v"], build), build);
  return y ? turned_back(y, build) : nullptr;
}

std::vector<Rule> make() {
  const Pattern weights = is(op_softmax, {any("scores")}).where(is_last_softmax).once().as("w");
  return {
      {"zeros-for-nan-of-softmax", "where(is_nan(softmax(x)), 0, softmax(x)) → softmax(x) with zeros for NaN",
       is(op_where, {is(op_is_nan, {any("w")}), any("zero"), any("w")}), zeros_for_nan},
      {"recognise-attention", "softmax(q · kᵀ · scale + mask) · v → attention(q, k, v, mask)",
       is(op_matmul, {weights, any("v")}), attention, &op_attention},
      {"recognise-attention-of-other-batches", "reshape(softmax(q · kᵀ · scale + mask)) · v → reshape(attention)",
       is(op_matmul, {is(op_reshape, {weights, any("shape")}).once().as("r"), any("v")}), attention_of_other_batches,
       &op_attention},
      {"recognise-turned-attention", "v · softmax(q · kᵀ · scale + mask)ᵀ → attention(q, k, vᵀ, mask)ᵀ",
       is(op_matmul, {any("v"), is(op_transpose, {weights}).once().as("t")}), turned_attention, &op_attention},
  };
}

}  // namespace

MICA_RULES(attention) = {.rank = 8, .make = make};

}  // namespace mica
