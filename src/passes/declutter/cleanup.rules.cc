// Nodes that change nothing, and pairs that undo each other.
#include "ops/image/resize.h"
#include "ops/index/axis.h"
#include "ops/move/reshape.h"
#include "ops/move/transpose.h"
#include "passes/declutter/contents.h"
#include "passes/rewrite.h"

namespace mica {

MICA_DECLARE_OP(add);
MICA_DECLARE_OP(cast);
MICA_DECLARE_OP(concat);
MICA_DECLARE_OP(copy);
MICA_DECLARE_OP(div);
MICA_DECLARE_OP(dropout);
MICA_DECLARE_OP(expand);
MICA_DECLARE_OP(flatten);
MICA_DECLARE_OP(gather);
MICA_DECLARE_OP(identity);
MICA_DECLARE_OP(mul);
MICA_DECLARE_OP(pad);
MICA_DECLARE_OP(reshape);
MICA_DECLARE_OP(resize);
MICA_DECLARE_OP(slice);
MICA_DECLARE_OP(squeeze);
MICA_DECLARE_OP(sub);
MICA_DECLARE_OP(tile);
MICA_DECLARE_OP(transpose);
MICA_DECLARE_OP(unsqueeze);

namespace {

// Only when everything about the type is known to stay: equal expressions are equal dimensions.
Value* same_type(const Match& m, Builder&) {
  Value* x = m["x"];
  return x->type.shape.known() && x->type == m.root->outputs[0]->type ? x : nullptr;
}

Value* just_x(const Match& m, Builder&) { return m["x"]; }

Value* noop_slice(const Match& m, Builder& build) {
  for (Value* v : {m["starts"], m["ends"]})
    if (!v || !v->contents()) return nullptr;
  if (Value* steps = m["steps"]; steps && !contents::is_number(steps, 1)) return nullptr;
  return same_type(m, build);  // positive unit steps that keep every size keep every element
}

Ints full_order(const Node& node, int rank) {
  const auto& perm = node.attributes<Transpose>().perm;
  if (!perm.empty()) return perm;
  Ints reversed;
  for (int i = rank; i-- > 0;) reversed.push(i);
  return reversed;
}

Value* merge_transposes(const Match& m, Builder& build) {
  const int rank = m["x"]->type.shape.rank;
  if (rank < 0) return nullptr;
  const Ints inner = full_order(m.node("inner"), rank), outer = full_order(*m.root, rank);
  if (static_cast<int>(inner.size()) != rank || inner.size() != outer.size()) return nullptr;
  Transpose both;
  for (size_t i = 0; i < outer.size(); ++i)
    both.perm.push(inner[static_cast<size_t>(outer[i] < 0 ? outer[i] + rank : outer[i])]);
  return build.one(op_transpose, both, {m["x"]});
}

Value* noop_transpose(const Match& m, Builder&) {
  const int rank = m["x"]->type.shape.rank;
  if (rank < 0) return nullptr;
  const Ints order = full_order(*m.root, rank);
  for (size_t i = 0; i < order.size(); ++i)
    if (order[i] != static_cast<int64_t>(i)) return nullptr;
  return m["x"];
}

Value* reshape_to(Value* x, const Shape& shape, Builder& build) {
  const auto dims = contents::reshape_target(shape);
  if (!dims || !x->type.is_tensor() || x->type.dtype == DType::kString) return nullptr;
  return build.one(op_reshape, Reshape{.allow_zero = true}, {x, build.ints(*dims)});
}

// The last shape is what counts.
Value* merge_reshapes(const Match& m, Builder& build) {
  return reshape_to(m["x"], m.root->outputs[0]->type.shape, build);
}

// Squeeze, unsqueeze and flatten to a shape that is known are reshapes; one form lets reshapes meet.
Value* as_reshape(const Match& m, Builder& build) { return reshape_to(m["x"], m.root->outputs[0]->type.shape, build); }

// Indices that count an axis from its first element to its last, whatever axes of their own they have.
Value* gather_of_all(const Match& m, Builder& build) {
  const Shape& shape = m["x"]->type.shape;
  const auto indices = contents::integers(m["indices"]);
  if (!shape.known() || !indices) return nullptr;
  const int64_t axis = m.root->attributes<IndexAxis>().axis;
  if (!shape[static_cast<int>(axis < 0 ? axis + shape.rank : axis)].is(static_cast<int64_t>(indices->size())))
    return nullptr;
  for (size_t i = 0; i < indices->size(); ++i)
    if ((*indices)[i] != static_cast<int64_t>(i)) return nullptr;
  return reshape_to(m["x"], m.root->outputs[0]->type.shape, build);
}

// A shape that the model computes, but of which all except one dimension are known anyway.
Value* fixed_target(const Match& m, Builder& build) {
  return m["shape"]->is_constant() ? nullptr : reshape_to(m["x"], m.root->outputs[0]->type.shape, build);
}

// Axes of one element may stand anywhere: only the order of the others is the order in memory.
Value* transpose_of_ones(const Match& m, Builder& build) {
  const Shape& shape = m["x"]->type.shape;
  if (!shape.known()) return nullptr;
  int64_t last = -1;
  for (int64_t axis : full_order(*m.root, shape.rank)) {
    if (axis < 0) axis += shape.rank;
    if (shape[static_cast<int>(axis)].is(1)) continue;
    if (axis < last) return nullptr;
    last = axis;
  }
  return reshape_to(m["x"], m.root->outputs[0]->type.shape, build);
}

// A dropout that neither trains nor gives its mask.
bool passes_on(const Node& node) {
  const Value* training = node.inputs.size() > 2 ? node.inputs[2] : nullptr;
  return node.outputs.size() == 1 && (!training || contents::uniform(training) == 0.0);
}

template <int number>
Value* neutral(const Match& m, Builder&) {
  Value* x = m["x"];
  if (contents::uniform(m["c"]) != static_cast<double>(number)) return nullptr;
  return x->type.shape.known() && x->type == m.root->outputs[0]->type ? x : nullptr;
}

// To the size that it has: by sizes, or by scales of 1 (others may round down to it).
Value* noop_resize(const Match& m, Builder&) {
  const Node& node = *m.root;
  Value* x = m["x"];
  const auto& a = node.attributes<Resize>();
  if (a.coordinates == Coordinates::kTfCropAndResize || a.policy != AspectPolicy::kStretch) return nullptr;
  if (!x->type.shape.known() || !(x->type == node.outputs[0]->type)) return nullptr;
  return contents::is_given(node, 3) || contents::uniform(node.inputs[2]) == 1.0 ? x : nullptr;
}

std::vector<Rule> make() {
  return {
      {"remove-identity", "identity(x) → x", is(op_identity, {any("x")}), just_x},
      {"remove-copy", "copy(x) → x", is(op_copy, {any("x")}), just_x},
      {"remove-dropout", "dropout(x) outside of training → x", is(op_dropout, {any("x")}).rest().where(passes_on),
       just_x},
      {"remove-noop-cast", "cast(x) to its own type → x", is(op_cast, {any("x")}), same_type},
      {"remove-noop-reshape", "reshape(x) to its own shape → x", is(op_reshape, {any("x"), any("shape")}), same_type},
      {"remove-noop-expand", "expand(x) to its own shape → x", is(op_expand, {any("x"), any("shape")}), same_type},
      {"remove-noop-tile", "tile(x) once → x", is(op_tile, {any("x"), constant("repeats")}), same_type},
      {"remove-noop-slice", "slice(x) of everything → x",
       is(op_slice, {any("x"), any("starts"), any("ends"), maybe("axes"), maybe("steps")}), noop_slice},
      {"remove-noop-slice-without-steps", "slice(x) of everything → x",
       is(op_slice, {any("x"), any("starts"), any("ends")}).rest(),
       [](const Match& m, Builder& build) -> Value* {
         return m.root->inputs.size() > 4 ? nullptr : noop_slice(m, build);
       }},
      {"remove-noop-pad", "pad(x) by zeros → x", is(op_pad, {any("x"), constant("pads")}).rest(),
       [](const Match& m, Builder&) -> Value* { return contents::uniform(m["pads"]) == 0.0 ? m["x"] : nullptr; }},
      {"remove-noop-resize", "resize(x) to its own size → x", is(op_resize, {any("x")}).rest(), noop_resize},
      {"remove-single-concat", "concat(x) → x", is(op_concat, {any("x")}), just_x},
      {"remove-noop-transpose", "transpose(x) in order → x", is(op_transpose, {any("x")}), noop_transpose},
      {"merge-transposes", "transpose(transpose(x, p), q) → transpose(x, p∘q)",
       is(op_transpose, {is(op_transpose, {any("x")}).as("inner")}), merge_transposes},
      {"transpose-is-reshape", "transpose(x) that moves axes of 1 only → reshape(x)", is(op_transpose, {any("x")}),
       transpose_of_ones},
      {"reshape-to-known", "reshape(x, computed shape) → reshape(x, constant)",
       is(op_reshape, {any("x"), any("shape")}), fixed_target},
      {"merge-reshapes", "reshape(reshape(x)) → reshape(x)",
       is(op_reshape, {is(op_reshape, {any("x"), any("between")}), any("shape")}), merge_reshapes},
      {"squeeze-is-reshape", "squeeze(x) → reshape(x)", is(op_squeeze, {any("x")}).rest(), as_reshape},
      {"unsqueeze-is-reshape", "unsqueeze(x) → reshape(x)", is(op_unsqueeze, {any("x"), any("axes")}), as_reshape},
      {"flatten-is-reshape", "flatten(x) → reshape(x)", is(op_flatten, {any("x")}), as_reshape},
      {"gather-is-reshape", "gather(x, 0 to n - 1) of an axis of n → reshape(x)",
       is(op_gather, {any("x"), constant("indices")}), gather_of_all},
      {"add-zero", "x + 0 → x", is(op_add, {any("x"), constant("c")}).either(), neutral<0>},
      {"sub-zero", "x - 0 → x", is(op_sub, {any("x"), constant("c")}), neutral<0>},
      {"mul-one", "x · 1 → x", is(op_mul, {any("x"), constant("c")}).either(), neutral<1>},
      {"div-one", "x / 1 → x", is(op_div, {any("x"), constant("c")}), neutral<1>},
  };
}

}  // namespace

MICA_RULES(cleanup) = {.rank = 0, .make = make};

}  // namespace mica
