// Attention on rows: queries, keys and values are read where their products leave them, with the heads side by side in
// a row, and the products that make them are one.
#include <cstring>
#include <optional>

#include "ops/attention/attention.h"
#include "ops/index/axis.h"
#include "ops/matmul/gemm.h"
#include "ops/move/split.h"
#include "ops/move/transpose.h"
#include "passes/declutter/contents.h"
#include "passes/rewrite.h"

namespace mica {

MICA_DECLARE_OP(add);
MICA_DECLARE_OP(attention);
MICA_DECLARE_OP(gather);
MICA_DECLARE_OP(gemm);
MICA_DECLARE_OP(matmul);
MICA_DECLARE_OP(slice);
MICA_DECLARE_OP(split);
MICA_DECLARE_OP(transpose);

namespace {

const Node* maker(const Value* value, const OpDef& op) {
  return value && value->producer && value->producer->op == &op ? value->producer : nullptr;
}

const std::vector<int64_t> kHeadsFirst = {0, 2, 1, 3};  // [batch, row, head, element] to [batch, head, row, element]

// One index of an axis.
struct Part {
  Value* whole = nullptr;
  int axis = 0;
  int64_t index = 0;
};

// x as whole[..., index, ...] without that axis: a part of a split whose axis of 1 is dropped, or what gather picks.
std::optional<Part> part_of(Value* x) {
  if (const Node* pick = maker(x, op_gather)) {
    const auto index = contents::integers(pick->inputs[1]);
    const Shape& shape = pick->inputs[0]->type.shape;
    if (!index || index->size() != 1 || pick->inputs[1]->type.shape.rank != 0 || !shape.known()) return {};
    const int64_t axis = pick->attributes<IndexAxis>().axis;
    Part part{pick->inputs[0], static_cast<int>(axis < 0 ? axis + shape.rank : axis), (*index)[0]};
    if (part.index < 0 && shape[part.axis].is_fixed()) part.index += shape[part.axis].value();
    return part;
  }
  const Node* drop = maker(x, op_reshape);
  const Node* cut = drop ? maker(drop->inputs[0], op_split) : nullptr;
  if (!cut) return {};
  const Shape &whole = cut->inputs[0]->type.shape, &one = drop->inputs[0]->type.shape, &left = x->type.shape;
  if (!whole.known() || !one.known() || left.rank + 1 != one.rank) return {};
  const int64_t axis = cut->attributes<Split>().axis;
  const int at = static_cast<int>(axis < 0 ? axis + whole.rank : axis);
  if (!one[at].is(1) || !whole[at].is(static_cast<int64_t>(cut->outputs.size()))) return {};
  for (int i = 0; i < left.rank; ++i)
    if (!(left[i] == one[i < at ? i : i + 1])) return {};
  return Part{cut->inputs[0], at, drop->inputs[0]->output};
}

// [batch, row, head, element], which x turns to [batch, head, row, element]; null when x is made otherwise. A part of
// an axis keeps it, with one index.
Value* before_heads(Value* x, Builder& build) {
  if (const Node* move = maker(x, op_transpose))
    return contents::order_of(*move) == kHeadsFirst ? move->inputs[0] : nullptr;
  const auto part = part_of(x);
  const Node* move = part ? maker(part->whole, op_transpose) : nullptr;
  if (!move || move->inputs[0]->type.shape.rank != 5 || part->index < 0) return nullptr;
  const auto order = contents::order_of(*move);
  const int64_t axis = order[static_cast<size_t>(part->axis)];
  std::vector<int64_t> rest;
  for (int64_t from : order)
    if (from != axis) rest.push_back(from > axis ? from - 1 : from);
  if (rest != kHeadsFirst) return nullptr;
  return build.one(op_slice, {move->inputs[0], build.ints(std::vector{part->index}),
                              build.ints(std::vector{part->index + 1}), build.ints(std::vector{axis})});
}

// x, of which each row is `heads` times `size` elements, in three dimensions.
Value* as_rows(Value* x, const Shape& of_heads, Builder& build) {
  if (!x || !of_heads[1].is_fixed() || !of_heads[3].is_fixed()) return nullptr;
  return contents::reshaped(build, x, {of_heads[0], of_heads[2], Dim(of_heads[1].value() * of_heads[3].value())});
}

bool others_absent(const Node& node) {
  for (size_t i = 4; i < node.inputs.size(); ++i)
    if (node.inputs[i]) return false;
  return node.outputs.size() == 1;
}

Value* attention_of_rows(const Match& m, Builder& build) {
  const Node& node = *m.root;
  if (node.outputs[0]->type.shape.rank != 4 || !others_absent(node)) return nullptr;
  Values inputs;
  for (size_t i = 0; i < 3; ++i) {
    const Shape& of_heads = node.inputs[i]->type.shape;
    if (!of_heads.known() || of_heads.rank != 4) return nullptr;
    inputs.push_back(as_rows(before_heads(node.inputs[i], build), of_heads, build));
    if (!inputs.back()) return nullptr;
  }
  if (node.inputs.size() > 3) inputs.push_back(node.inputs[3]);
  Attention attributes = node.attributes<Attention>();
  attributes.q_heads = node.inputs[0]->type.shape[1].value();
  attributes.kv_heads = node.inputs[1]->type.shape[1].value();
  const Shape& out = node.outputs[0]->type.shape;
  Value* rows = build.one(op_attention, attributes, inputs);
  Value* parted = contents::reshaped(build, rows, {out[0], out[2], out[1], out[3]});
  Transpose turn;
  for (int64_t axis : kHeadsFirst) turn.perm.push(axis);
  return parted ? build.one(op_transpose, turn, {parted}) : nullptr;
}

// x · w + b with known weights.
struct Projection {
  const Node* product = nullptr;
  Value *x = nullptr, *w = nullptr, *b = nullptr;  // b: one number for each column, or null
  Value* y = nullptr;
  std::vector<const Value*> between;  // from the product's result to the operand
  int64_t columns = 0;
  bool flipped = false;
};

bool is_bias(const Value* b, int64_t columns) {
  if (!b || !b->is_constant()) return false;
  const Shape& s = b->type.shape;
  return s.rank >= 1 && s.back().is(columns) && b->constant->view.count() == columns;
}

std::optional<Projection> projection(Value* operand) {
  Projection p{.y = operand};
  p.between.push_back(operand);
  if (const Node* shape = maker(operand, op_reshape)) {
    p.y = shape->inputs[0];
    if (!p.y->type.shape.known() || !(p.y->type.shape.back() == operand->type.shape.back())) return {};
    p.between.push_back(p.y);
  }
  Value* sum = p.y;
  if (const Node* add = maker(p.y, op_add)) {
    const size_t constant = add->inputs[0]->is_constant() ? 0 : 1;
    p.b = add->inputs[constant];
    sum = add->inputs[1 - constant];
    p.between.push_back(sum);
    if (!(sum->type == p.y->type)) return {};
  }
  const Node* gemm = maker(sum, op_gemm);
  p.product = gemm ? gemm : maker(sum, op_matmul);
  if (!p.product || !p.product->inputs[1]->is_constant() || p.product->inputs[1]->type.shape.rank != 2) return {};
  if (gemm) {
    const auto& g = gemm->attributes<Gemm>();
    if (g.alpha != 1 || g.beta != 1 || g.transpose_a || p.b) return {};
    p.flipped = g.transpose_b;
    if (gemm->inputs.size() > 2) p.b = gemm->inputs[2];
  }
  p.x = p.product->inputs[0], p.w = p.product->inputs[1];
  p.columns = p.w->type.shape[p.flipped ? 0 : 1].value();
  if (p.x->type.shape.rank < 2 || !contents::is_float(p.w) || (p.b && !is_bias(p.b, p.columns))) return {};
  return p;
}

bool fit(const Projection& a, const Projection& b) {
  return a.x == b.x && a.product->op == b.product->op && a.flipped == b.flipped && !a.b == !b.b &&
         a.w->type.dtype == b.w->type.dtype && a.y->type.dtype == b.y->type.dtype;
}

// Constants side by side along the last axis, rows of `rows`.
Value* side_by_side(std::span<const Value* const> parts, int64_t rows, std::span<const int64_t> dims, Builder& build) {
  OwnedTensor tensor = value_or_throw(OwnedTensor::make(parts[0]->type.dtype, dims));
  auto* to = static_cast<char*>(tensor.view().data);
  for (int64_t row = 0; row < rows; ++row)
    for (const Value* part : parts) {
      const TensorView& view = part->constant->view;
      const auto bytes = static_cast<size_t>(dense_bytes(view.dtype, view.shape()) / rows);
      std::memcpy(to, static_cast<const char*>(view.data) + static_cast<size_t>(row) * bytes, bytes);
      to += bytes;
    }
  return build.graph().add_constant(Constant::own(std::move(tensor)));
}

// The operands of one product that takes the place of several, in their order.
Values joined(std::span<const Projection> all, Builder& build) {
  std::vector<const Value*> weights, biases;
  std::vector<int64_t> sizes;
  int64_t columns = 0;
  for (const Projection& p : all) {
    weights.push_back(p.w);
    if (p.b) biases.push_back(p.b);
    sizes.push_back(p.columns);
    columns += p.columns;
  }
  const Projection& first = all[0];
  const int64_t depth = first.w->type.shape[first.flipped ? 1 : 0].value();
  const int64_t dims[] = {first.flipped ? columns : depth, first.flipped ? depth : columns}, bias_dims[] = {columns};
  Value* w = side_by_side(weights, first.flipped ? 1 : depth, dims, build);
  Value* b = biases.empty() ? nullptr : side_by_side(biases, 1, bias_dims, build);
  Value* y = nullptr;
  if (first.product->op == &op_gemm) {
    y = build.one(op_gemm, first.product->attributes<Gemm>(), b ? Values{first.x, w, b} : Values{first.x, w});
  } else {
    y = build.one(op_matmul, {first.x, w});
    if (b) y = build.one(op_add, {y, b});
  }
  const int64_t axis = y->type.shape.rank - 1;
  return build.add(op_split, Split{.axis = axis, .parts = static_cast<int64_t>(sizes.size())}, {y, build.ints(sizes)},
                   static_cast<int>(sizes.size()));
}

// Those of queries, keys and values that are products of one operand, when nothing else reads them.
Value* join_projections(const Match& m, Builder& build) {
  const Node& node = *m.root;
  if (node.outputs[0]->type.shape.rank != 3 || !others_absent(node)) return nullptr;
  std::vector<Projection> all;
  std::vector<size_t> places;
  for (size_t i = 3; i-- > 0;) {
    auto p = projection(node.inputs[i]);
    if (!p || (!all.empty() && !fit(all[0], *p))) continue;
    all.insert(all.begin(), *std::move(p));
    places.insert(places.begin(), i);
  }
  if (all.size() < 2) return nullptr;
  for (const Projection& p : all)
    for (const Value* value : p.between)
      if (m.readers->count(value) != 1 || m.readers->kept(value)) return nullptr;
  const Values parts = joined(all, build);
  Values inputs = node.inputs;
  for (size_t i = 0; i < places.size(); ++i) {
    Value*& operand = inputs[places[i]];
    operand = operand == all[i].y ? parts[i] : contents::reshaped(build, parts[i], operand->type.shape);
    if (!operand) return nullptr;
  }
  return build.one(op_attention, node.attributes<Attention>(), inputs);
}

std::vector<Rule> make() {
  const auto over = [] { return is(op_attention, {any("q"), any("k"), any("v")}).rest(); };
  return {
      {"attention-of-rows", "attention of transposed heads → transpose(attention of rows)", over(), attention_of_rows,
       &op_attention},
      {"join-projections", "attention(x · u, x · v, x · w) → attention of the parts of x · [u v w]", over(),
       join_projections, &op_attention},
  };
}

}  // namespace

MICA_RULES(heads) = {.rank = 12, .make = make};

}  // namespace mica
