// Transposes move behind element-wise work, where they meet their inverses.
#include <optional>

#include "base/checked.h"
#include "ops/move/transpose.h"
#include "passes/declutter/contents.h"
#include "passes/rewrite.h"

namespace mica {

MICA_DECLARE_OP(add);
MICA_DECLARE_OP(div);
MICA_DECLARE_OP(matmul);
MICA_DECLARE_OP(max);
MICA_DECLARE_OP(min);
MICA_DECLARE_OP(mul);
MICA_DECLARE_OP(pow);
MICA_DECLARE_OP(prelu);
MICA_DECLARE_OP(reshape);
MICA_DECLARE_OP(sub);
MICA_DECLARE_OP(transpose);

namespace {

using contents::order_of;

Transpose transpose_of(const std::vector<int64_t>& order) {
  Transpose transpose;
  for (int64_t axis : order) transpose.perm.push(axis);
  return transpose;
}

Value* behind_unary(const Match& m, Builder& build) {
  const Node& move = m.node("move");
  if (!m["x"]->type.shape.known()) return nullptr;
  return build.one(op_transpose, transpose_of(order_of(move)), {build.again(*m.root, {m["x"]})});
}

Value* behind_pair(const Match& m, Builder& build) {
  const auto order = order_of(m.node("move")), other = order_of(m.node("other"));
  if (!m["x"]->type.shape.known() || !m["y"]->type.shape.known() || order != other) return nullptr;
  return build.one(op_transpose, transpose_of(order), {build.again(*m.root, {m["x"], m["y"]})});
}

// A constant operand is transposed the other way; it broadcasts to the tensor and not the tensor to it.
template <bool constant_first>
Value* behind_constant(const Match& m, Builder& build) {
  const Node& move = m.node("move");
  const int rank = m["x"]->type.shape.rank;
  Value* c = m["c"];
  if (rank < 0 || c->type.shape.rank > rank || !(m.root->outputs[0]->type.shape == m["move"]->type.shape))
    return nullptr;
  const auto order = order_of(move);
  std::vector<int64_t> dims(static_cast<size_t>(rank - c->type.shape.rank), 1), inverse(order.size());
  for (Dim d : c->type.shape.span()) dims.push_back(d.value());
  for (size_t i = 0; i < order.size(); ++i) inverse[static_cast<size_t>(order[i])] = static_cast<int64_t>(i);
  Value* turned = c;
  if (c->constant->view.count() != 1)
    turned =
        build.one(op_transpose, transpose_of(inverse), {build.constant(c->type.dtype, dims, c->constant->view.data)});
  else if (c->type.shape.rank > 0)
    turned = build.constant(c->type.dtype, dims, c->constant->view.data);
  const Values inputs = constant_first ? Values{turned, m["x"]} : Values{m["x"], turned};
  return build.one(op_transpose, transpose_of(order), {build.again(*m.root, inputs)});
}

// A sum with what is no constant: the product then adds it before it stores its result.
Value* behind_residual(const Match& m, Builder& build) {
  const Value* moved = m["move"];
  Value* z = m["z"];
  const int rank = moved->type.shape.rank;
  if (rank < 3 || z->is_constant() || !(z->type == moved->type) || !(m.root->outputs[0]->type == moved->type))
    return nullptr;
  const Ints first = channels_first_order(rank);
  if (!contents::has_order(*moved->producer, first)) return nullptr;
  Value* turned = build.one(op_transpose, Transpose{.perm = channels_last_order(rank)}, {z});
  return build.one(op_transpose, Transpose{.perm = first}, {build.one(op_add, {m["x"], turned})});
}

// The first axes are joined into one, which stays in front, and parted again as they were.
Value* of_joined_axes(const Match& m, Builder& build) {
  const Shape &x = m["x"]->type.shape, &flat = m["flat"]->type.shape, &moved = m["move"]->type.shape,
              &out = m.root->outputs[0]->type.shape;
  if (!x.known() || !flat.known() || !out.known() || out.rank != x.rank || flat.rank < 2 || flat.rank >= x.rank)
    return nullptr;
  const auto order = order_of(m.node("move"));
  const int lead = x.rank - flat.rank + 1;  // so many are joined
  if (order[0] != 0) return nullptr;
  std::vector<int64_t> all;
  for (int i = 0; i < lead; ++i) {
    if (!(out[i] == x[i])) return nullptr;
    all.push_back(i);
  }
  for (int i = 1; i < flat.rank; ++i) {
    if (!(flat[i] == x[lead - 1 + i]) || !(out[lead - 1 + i] == moved[i])) return nullptr;
    all.push_back(lead - 1 + order[static_cast<size_t>(i)]);
  }
  return build.one(op_transpose, transpose_of(all), {m["x"]});
}

// A reshape that parts one axis and keeps the others: `axis` of the operand becomes `count` axes of the result.
struct Parting {
  int axis = -1, count = 0;
};

std::optional<Parting> parting(const Shape& from, const Shape& to) {
  if (!from.known() || !to.known() || from.rank < 1 || to.rank <= from.rank) return {};
  int front = 0, back = 0;
  while (front + 1 < from.rank && from[front] == to[front]) ++front;
  while (front + back + 1 < from.rank && from[from.rank - 1 - back] == to[to.rank - 1 - back]) ++back;
  if (front + back + 1 != from.rank) return {};
  int64_t product = 1;
  bool fixed = from[front].is_fixed();
  for (int i = 0; i < to.rank; ++i) {
    if (to[i].is(0)) return {};  // nothing says how an empty tensor is parted
    if (i < front || i >= to.rank - back) continue;
    fixed = fixed && to[i].is_fixed();
    if (fixed && !checked_mul(product, to[i].value(), product)) return {};
  }
  if (fixed && product != from[front].value()) return {};
  return Parting{front, to.rank - back - front};
}

// An axis is parted in front of the transposition: tokens become an image there, and heads leave the batch.
Value* parted_first(const Match& m, Builder& build) {
  const Shape &x = m["x"]->type.shape, &moved = m["move"]->type.shape, &out = m.root->outputs[0]->type.shape;
  const auto parts = parting(moved, out);
  if (!parts || !x.known()) return nullptr;
  const auto order = order_of(m.node("move"));
  const auto axis = static_cast<int>(order[static_cast<size_t>(parts->axis)]);  // of x
  const int more = parts->count - 1;
  Shape parted = Shape::of_rank(out.rank);
  std::vector<int64_t> all;
  for (int i = 0; i < moved.rank; ++i) {
    const auto from = static_cast<int>(order[static_cast<size_t>(i)]);
    const int place = from + (from > axis ? more : 0), at = i + (i > parts->axis ? more : 0);
    for (int k = 0; k < (i == parts->axis ? parts->count : 1); ++k) {
      parted[place + k] = out[at + k];
      all.push_back(place + k);
    }
  }
  Value* first = contents::reshaped(build, m["x"], parted);
  return first ? build.one(op_transpose, transpose_of(all), {first}) : nullptr;
}

std::vector<Rule> make() {
  const auto moved = [](const char* x, const char* as) { return is(op_transpose, {any(x)}).once().as(as); };
  std::vector<Rule> rules;
  for (const auto& row : all_op())
    if (is_unary(*row.definition))
      rules.push_back({"transpose-behind-unary", "f(transpose(x)) → transpose(f(x))",
                       is(*row.definition, {moved("x", "move")}), behind_unary});
  for (const OpDef* op : {&op_add, &op_sub, &op_mul, &op_div, &op_min, &op_max, &op_pow, &op_prelu}) {
    rules.push_back({"transpose-behind-pair", "f(transpose(x), transpose(y)) → transpose(f(x, y))",
                     is(*op, {moved("x", "move"), moved("y", "other")}), behind_pair});
    rules.push_back({"transpose-behind-constant", "f(transpose(x), c) → transpose(f(x, transpose⁻¹(c)))",
                     is(*op, {moved("x", "move"), constant("c")}), behind_constant<false>});
    rules.push_back({"transpose-behind-first-constant", "f(c, transpose(x)) → transpose(f(transpose⁻¹(c), x))",
                     is(*op, {constant("c"), moved("x", "move")}), behind_constant<true>});
  }
  const Pattern product = is(op_matmul, {any("p"), constant("w")}).once();
  for (const Pattern& x : {product, is(op_add, {product, constant("b")}).either().once()})
    rules.push_back({"transpose-behind-residual", "image(matmul(x)) + z → image(matmul(x) + image⁻¹(z))",
                     is(op_add, {is(op_transpose, {x.as("x")}).once().as("move"), any("z")}).either(),
                     behind_residual});
  rules.push_back(
      {"transpose-of-joined-axes", "reshape(transpose(reshape(x))) → transpose(x)",
       is(op_reshape,
          {is(op_transpose, {is(op_reshape, {any("x"), any("joined")}).as("flat")}).once().as("move"), any("parted")}),
       of_joined_axes});
  rules.push_back({"part-before-transpose", "reshape(transpose(x)) that parts an axis → transpose(reshape(x))",
                   is(op_reshape, {moved("x", "move"), any("shape")}), parted_first});
  return rules;
}

}  // namespace

MICA_RULES(transposes) = {.rank = 3, .make = make};

}  // namespace mica
