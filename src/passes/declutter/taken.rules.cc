// Where a few places of an axis are taken from a result, the work is done for these alone: a classifier of the first
// token needs one row of the last block's products, a language model's head one position. What is taken goes up, a
// slice of the operands instead of one of the result, as far as nobody reads the other places.
#include <optional>

#include "base/checked.h"
#include "ops/attention/attention.h"
#include "ops/index/axis.h"
#include "ops/move/concat.h"
#include "ops/move/slice.h"
#include "ops/norm/layer_norm.h"
#include "passes/declutter/contents.h"
#include "passes/rewrite.h"

namespace mica {

MICA_DECLARE_OP(attention);
MICA_DECLARE_OP(concat);
MICA_DECLARE_OP(gather);
MICA_DECLARE_OP(layer_norm);
MICA_DECLARE_OP(matmul);
MICA_DECLARE_OP(reshape);
MICA_DECLARE_OP(slice);
MICA_DECLARE_OP(transpose);

namespace {

struct Range {
  int axis = -1;
  int64_t begin = 0, count = 0;
};

int64_t size_along(const Value* x, int axis) {
  const Shape& shape = x->type.shape;
  return shape.known() && axis < shape.rank && shape[axis].is_fixed() ? shape[axis].value() : -1;
}

std::optional<Range> range_of_gather(const Node& node) {
  const Value* x = node.inputs[0];
  const auto indices = contents::integers(node.inputs[1]);
  if (!x->type.shape.known() || !indices || indices->size() != 1) return {};
  const int64_t axis = node.attributes<IndexAxis>().axis, index = indices->front();
  Range range{static_cast<int>(axis < 0 ? axis + x->type.shape.rank : axis), 0, 1};
  const int64_t size = size_along(x, range.axis);
  range.begin = index < 0 ? index + size : index;
  return size > 0 && range.begin >= 0 && range.begin < size ? std::optional(range) : std::nullopt;
}

// A slice by steps of 1 that leaves all axes but one as they are.
std::optional<Range> range_of_slice(const Node& node) {
  const Shape& shape = node.inputs[0]->type.shape;
  if (!shape.known()) return {};
  std::vector<int64_t> dims;  // what is not known counts as one, and must not be cut
  for (Dim d : shape.span()) dims.push_back(d.is_fixed() ? d.value() : 1);
  const auto cut = contents::cut_of(node, dims);
  if (!cut) return {};
  Range range;
  for (int i = 0; i < shape.rank; ++i) {
    if (node.outputs[0]->type.shape[i] == shape[i] && cut->step[i] == 1) continue;
    if (range.axis >= 0 || cut->step[i] != 1 || !shape[i].is_fixed() || cut->length[i] < 1) return {};
    range = {i, cut->begin[i], cut->length[i]};
  }
  return range.axis >= 0 ? std::optional(range) : std::nullopt;
}

std::optional<Range> range_of(const Node& node) {
  if (node.op == &op_gather) return range_of_gather(node);
  return node.op == &op_slice ? range_of_slice(node) : std::nullopt;
}

Value* taken(Value* x, const Range& range, Builder& build) {
  const auto list = [&](int64_t number) { return build.ints(std::array{number}); };
  return build.one(op_slice, {x, list(range.begin), list(range.begin + range.count), list(range.axis)});
}

// The range where operand `x` has it when it is broadcast to the rank of the result: nothing when it has one place
// there for all, and `fits` is false when it has neither.
Value* taken_aligned(Value* x, const Value* result, const Range& range, Builder& build, bool& fits) {
  const int rank = x->type.shape.rank, axis = range.axis - (result->type.shape.rank - rank);
  if (!x->type.shape.known()) fits = false;
  if (!fits || axis < 0 || x->type.shape[axis].is(1)) return x;
  fits = x->type.shape[axis] == result->type.shape[range.axis];
  return fits ? taken(x, {axis, range.begin, range.count}, build) : x;
}

// Each of these builds the range of a node's result from ranges of its operands; null when it cannot.

Value* of_elementwise(const Node& node, const Range& range, Builder& build) {
  Values inputs = node.inputs;
  bool fits = true;
  for (Value*& x : inputs)
    if (x) x = taken_aligned(x, node.outputs[0], range, build, fits);
  return fits ? build.again(node, inputs) : nullptr;
}

Value* of_layer_norm(const Node& node, const Range& range, Builder& build) {
  const int rank = node.outputs[0]->type.shape.rank;
  const int64_t axis = node.attributes<LayerNorm>().axis;
  if (range.axis >= (axis < 0 ? axis + rank : axis)) return nullptr;
  for (size_t i = 1; i < node.inputs.size(); ++i)
    if (node.inputs[i] && node.inputs[i]->type.shape.rank != 1) return nullptr;
  Values inputs = node.inputs;
  inputs[0] = taken(inputs[0], range, build);
  return build.again(node, inputs);
}

// Rows of the first operand, of as many dimensions as the result.
Value* of_matmul(const Node& node, const Range& range, Builder& build) {
  const int rank = node.outputs[0]->type.shape.rank;
  Value* x = node.inputs[0];
  if (rank < 2 || range.axis != rank - 2 || x->type.shape.rank != rank) return nullptr;
  Values inputs = node.inputs;
  inputs[0] = taken(x, range, build);
  return build.again(node, inputs);
}

// Some queries see all keys, unless their place says which.
Value* of_attention(const Node& node, const Range& range, Builder& build) {
  const auto& a = node.attributes<Attention>();
  const int rank = node.outputs[0]->type.shape.rank;
  if (range.axis != rank - 2 || node.inputs.size() > 4) return nullptr;
  if (a.causal || a.left_window >= 0 || a.right_window >= 0) return nullptr;
  Values inputs = node.inputs;
  inputs[0] = taken(inputs[0], range, build);
  if (inputs.size() > 3 && inputs[3]) {
    const Shape& mask = inputs[3]->type.shape;
    if (mask.rank < 2) return nullptr;
    if (!mask[mask.rank - 2].is(1)) {
      if (!(mask[mask.rank - 2] == node.outputs[0]->type.shape[range.axis])) return nullptr;
      inputs[3] = taken(inputs[3], {mask.rank - 2, range.begin, range.count}, build);
    }
  }
  return build.again(node, inputs);
}

Value* of_transpose(const Node& node, const Range& range, Builder& build) {
  const auto order = contents::order_of(node);
  const auto axis = static_cast<int>(order[static_cast<size_t>(range.axis)]);
  return build.again(node, {taken(node.inputs[0], {axis, range.begin, range.count}, build)});
}

// The axis as it is, behind as many elements.
Value* of_reshape(const Node& node, const Range& range, Builder& build) {
  const Shape &to = node.outputs[0]->type.shape, &from = node.inputs[0]->type.shape;
  if (!from.known() || !to.known()) return nullptr;
  int axis = 0, at = 0;  // dimensions in front that are equal, and then numbers whose products are
  while (axis < from.rank && at < range.axis && from[axis] == to[at]) ++axis, ++at;
  int64_t left = 1, right = 1;
  while (at < range.axis || left != right) {
    const bool up = at < range.axis && right <= left;
    const Dim d = up ? to[at++] : axis < from.rank ? from[axis++] : Dim(0);
    if (!d.is_fixed() || d.value() < 1 || !checked_mul(up ? right : left, d.value(), up ? right : left)) return nullptr;
  }
  while (axis < from.rank && from[axis].is(1) && !to[range.axis].is(1)) ++axis;
  if (axis >= from.rank || !(from[axis] == to[range.axis])) return nullptr;
  Shape shape = to;
  shape[range.axis] = range.count;
  return contents::reshaped(build, taken(node.inputs[0], {axis, range.begin, range.count}, build), shape);
}

// Of each operand, or of the one that holds the range.
Value* of_concat(const Node& node, const Range& range, Builder& build) {
  const int64_t given = node.attributes<Concat>().axis,
                axis = given < 0 ? given + node.outputs[0]->type.shape.rank : given;
  Values inputs = node.inputs;
  if (axis != range.axis) {
    for (Value*& x : inputs) x = taken(x, range, build);
    return build.again(node, inputs);
  }
  int64_t first = 0;
  for (Value* x : inputs) {
    const int64_t size = size_along(x, range.axis);
    if (size < 0) return nullptr;
    if (range.begin >= first && range.begin + range.count <= first + size)
      return taken(x, {range.axis, range.begin - first, range.count}, build);
    first += size;
  }
  return nullptr;
}

using Of = Value* (*)(const Node&, const Range&, Builder&);

Of rule_for(const Node& node) {
  if (node.outputs.size() != 1) return nullptr;
  const std::pair<const OpDef*, Of> table[] = {{&op_layer_norm, of_layer_norm}, {&op_matmul, of_matmul},
                                               {&op_attention, of_attention},   {&op_transpose, of_transpose},
                                               {&op_reshape, of_reshape},       {&op_concat, of_concat}};
  for (const auto& [op, of] : table)
    if (node.op == op) return of;
  return node.op->pointwise != Pointwise::kNone && node.op->layout == LayoutRule::kAny ? of_elementwise : nullptr;
}

// Places of all readers' ranges; nothing when one needs another axis, or all of them more than half: less is no work
// saved.
std::optional<Range> hull_of(const Value* x, Range hull, const Readers& readers) {
  const auto nodes = readers.nodes(x);
  if (readers.kept(x) || nodes.size() != readers.count(x)) return {};
  const int64_t most = size_along(x, hull.axis) / 2;
  // From the last one: where something is cut into many, the first and the last tell that all of it is needed.
  for (size_t i = nodes.size(); hull.count <= most && i-- > 0;) {
    const auto range = range_of(*nodes[i]);
    if (!range || nodes[i]->inputs[0] != x || hull.axis != range->axis) return {};
    const int64_t end = std::max(hull.begin + hull.count, range->begin + range->count);
    hull.begin = std::min(hull.begin, range->begin);
    hull.count = end - hull.begin;
  }
  return hull.count <= most ? std::optional(hull) : std::nullopt;
}

Value* upwards(const Match& m, Builder& build) {
  const Node& root = *m.root;
  Value* x = root.inputs[0];
  const auto range = range_of(root);
  const Of of = range && x->producer ? rule_for(*x->producer) : nullptr;
  const auto hull = of ? hull_of(x, *range, *m.readers) : std::nullopt;
  if (!hull) return nullptr;
  const std::string name = build.name();
  build.set_name(x->producer->name);
  Value* made = of(*x->producer, *hull, build);
  build.set_name(name);
  if (!made) return nullptr;
  if (hull->count != range->count) made = taken(made, {range->axis, range->begin - hull->begin, range->count}, build);
  const Shape& shape = root.outputs[0]->type.shape;
  return made->type.shape == shape ? made : contents::reshaped(build, made, shape);
}

std::vector<Rule> make() {
  return {{"take-first", "slice(f(x)) → f(slice(x)), or a gather of one place",
           is(op_slice, {any("x"), constant("starts"), constant("ends")}).rest(), upwards},
          {"take-first", "slice(f(x)) → f(slice(x)), or a gather of one place",
           is(op_gather, {any("x"), constant("index")}), upwards}};
}

}  // namespace

// Last: blocks have become what they are.
MICA_RULES(taken) = {.rank = 24, .make = make, .last = true};

}  // namespace mica
