// Channel shuffles, which exporters spell as a transposition between two reshapes.
#include "ops/move/concat.h"
#include "ops/move/interleave.h"
#include "ops/move/split.h"
#include "ops/move/transpose.h"
#include "passes/rewrite.h"

namespace mica {

MICA_DECLARE_OP(concat);
MICA_DECLARE_OP(interleave);
MICA_DECLARE_OP(reshape);
MICA_DECLARE_OP(split);
MICA_DECLARE_OP(transpose);

namespace {

constexpr int64_t kMostGroups = 8;

// The axis that `cut` makes two of, the first of which has `groups` elements; -1 when it does anything else.
int cut_axis(const Shape& whole, const Shape& cut, int64_t& groups) {
  if (!whole.known() || !cut.known() || cut.rank != whole.rank + 1) return -1;
  int axis = 0;
  while (axis < whole.rank && whole[axis] == cut[axis]) ++axis;
  for (int i = axis + 1; i < whole.rank; ++i)
    if (!(whole[i] == cut[i + 1])) return -1;
  if (axis == whole.rank || !whole[axis].is_fixed() || !cut[axis].is_fixed() || !cut[axis + 1].is_fixed()) return -1;
  groups = cut[axis].value();
  return groups * cut[axis + 1].value() == whole[axis].value() ? axis : -1;
}

bool swaps(const Node& node, int axis) {
  const Ints& perm = node.attributes<Transpose>().perm;
  const int rank = node.inputs[0]->type.shape.rank;
  if (static_cast<int>(perm.size()) != rank) return false;
  for (int i = 0; i < rank; ++i)
    if (perm[static_cast<size_t>(i)] != (i == axis ? axis + 1 : i == axis + 1 ? axis : i)) return false;
  return true;
}

// What a concatenation put together of equal parts is taken as it was before.
bool joined_parts(const Value& x, int axis, int64_t groups, Values& parts) {
  if (!x.producer || x.producer->op != &op_concat) return false;
  const Node& node = *x.producer;
  const int64_t along = node.attributes<Concat>().axis;
  if ((along < 0 ? along + x.type.shape.rank : along) != axis || static_cast<int64_t>(node.inputs.size()) != groups)
    return false;
  for (Value* part : node.inputs)
    if (!part->type.shape.known() || !part->type.shape[axis].is(x.type.shape[axis].value() / groups)) return false;
  parts = node.inputs;
  return true;
}

Value* shuffle(const Match& m, Builder& build) {
  Value* x = m["x"];
  int64_t groups = 0;
  const int axis = cut_axis(x->type.shape, m["cut"]->type.shape, groups);
  if (axis < 0 || groups < 2 || groups > kMostGroups || is_sub_byte(x->type.dtype)) return nullptr;
  if (!swaps(m.node("turn"), axis) || !(m.root->outputs[0]->type.shape == x->type.shape)) return nullptr;
  Values parts;
  if (!joined_parts(*x, axis, groups, parts))
    parts = build.add(op_split, Split{.axis = axis, .parts = groups}, {x}, static_cast<int>(groups));
  return build.one(op_interleave, Interleave{.axis = axis}, parts);
}

std::vector<Rule> make() {
  const Pattern cut = is(op_reshape, {any("x"), any("s")}).once().as("cut");
  return {{"recognise-shuffle", "reshape(transpose(reshape(x))) → interleave(parts of x)",
           is(op_reshape, {is(op_transpose, {cut}).once().as("turn"), any("t")}), shuffle, &op_interleave}};
}

}  // namespace

MICA_RULES(shuffles) = {.rank = 2, .make = make};

}  // namespace mica
