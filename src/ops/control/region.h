// What the operators with regions share: the types of values that change from turn to turn, and results collected over
// turns.
#pragma once
#include <algorithm>

#include "types/operand.h"

namespace mica::region {

// An optional value may become what it holds: the first turn of a loop makes a sequence of one that was empty.
inline bool holds(const Type& optional, const Type& inner) {
  return optional.kind == Kind::kOptional && optional.of == inner.kind;
}

// Widens `state` so that `made` is one of its values: dims that differ become data-dependent symbols, once; ranks that
// differ an unknown rank. `open` has a bit per dim that is a symbol already. Returns whether `state` changed. Errors:
// kBadType.
inline Result<bool> widen(Type& state, const Type& made, uint32_t& open, DimTable& dims) {
  const bool alike = state.dtype == made.dtype && state.key == made.key;
  const bool same = alike && ((state.kind == made.kind && state.of == made.of) || holds(state, made));
  MICA_CHECK(same, kBadType, "a value changes its type from {} to {}", name_of(state.dtype), name_of(made.dtype));
  if (!state.shape.known()) return false;
  if (state.shape.rank != made.shape.rank) {
    state.shape = Shape();
    return true;
  }
  bool changed = false;
  for (int i = 0; i < state.shape.rank; ++i) {
    if (state.shape[i] == made.shape[i] || (open >> i & 1)) continue;
    state.shape[i] = dims.fresh("turn");
    open |= 1u << i;
    changed = true;
  }
  return changed;
}

// Infers region 0 with `in`, whose values from `first` on are carried: they are widened until the region's results from
// `first_result` on are among them. They end up as the types at every turn.
struct Carried {
  int first, first_result, count;
};
inline Status infer_carried(InferScope& scope, std::span<InferValue> in, std::span<InferValue> out,
                            const Carried& carried) {
  Vector<uint32_t> open;
  MICA_TRY_STATUS(open.resize(static_cast<size_t>(carried.count)));
  for (int turn = 0; turn < kMaxRank + 2; ++turn) {
    MICA_TRY_STATUS(scope.infer_region(0, in, out));
    bool changed = false;
    for (int i = 0; i < carried.count; ++i) {
      const auto index = static_cast<size_t>(i);
      Type& state = in[static_cast<size_t>(carried.first) + index].type;
      MICA_TRY(const bool wider,
               widen(state, out[static_cast<size_t>(carried.first_result) + index].type, open[index], scope.dims()));
      changed = changed || wider;
    }
    if (!changed) return {};
  }
  return error(Code::kInternal, "the types of carried values do not settle");
}

// A type as it is seen outside of the region: symbols made inside mean nothing there.
inline Type outside(Type type, DimTable& dims) {
  for (int i = 0; i < type.shape.rank; ++i)
    if (dims.depends_on(type.shape[i], SymbolKind::kData)) type.shape[i] = dims.fresh("turn");
  return type;
}

// Copies an operand to output `output`: a tensor's elements or an object.
inline Status copy_value(RunScope& scope, int input, int output) {
  if (!scope.wants(output)) return {};
  if (Object* object = scope.inputs[static_cast<size_t>(input)].object) {
    MICA_TRY(scope.out_object(output), object->copy());
    return {};
  }
  MICA_TRY(OwnedTensor copy, OwnedTensor::copy_of(scope.in(input)));
  return scope.adopt_output(output, std::move(copy));
}

// Makes a region's result output `output`.
inline Status take_value(RunScope& scope, int output, RunScope::CallResult& result) {
  if (!scope.wants(output)) return {};
  if (Object* object = scope.outputs[static_cast<size_t>(output)].object) {
    *object = std::move(result.object);
    return {};
  }
  return scope.adopt_output(output, std::move(result.tensor));
}

// A region's result as an operand of its next turn. An object when the operand was one.
inline void pass_on(RunScope::CallResult& from, RunValue& to) {
  if (to.object)
    to.object = &from.object;
  else
    to.tensor = from.tensor.view();
}

using Collected = Vector<OwnedTensor>;  // one tensor per turn

// Stacks collected tensors along a new axis of output `output`, in reverse when asked. `none`: what a turn's result
// would look like, for no turns.
inline Status stack(RunScope& scope, int output, const Collected& turns, int64_t axis_attribute, bool reverse) {
  if (!scope.wants(output)) return {};
  TensorView shape;
  if (turns.empty()) {
    const TensorView& out = scope.out(output);
    shape.rank = std::max(out.rank - 1, 0);
    MICA_TRY(const int gone, normalize_axis(axis_attribute, shape.rank + 1));
    for (int i = 0, k = 0; i < out.rank; ++i)
      if (i != gone) shape.dims[static_cast<size_t>(k++)] = std::max<int64_t>(out.dim(i), 0);
  } else {
    shape = turns[0].view();
  }
  MICA_CHECK(shape.rank < kMaxRank, kLimit, "a tensor of rank {}", shape.rank + 1);
  MICA_TRY(const int axis, normalize_axis(axis_attribute, shape.rank + 1));
  std::copy_backward(shape.dims.begin() + axis, shape.dims.begin() + shape.rank, shape.dims.begin() + shape.rank + 1);
  shape.dims[static_cast<size_t>(axis)] = static_cast<int64_t>(turns.size());
  ++shape.rank;
  MICA_TRY_STATUS(scope.allocate_output(output, shape.shape()));
  MICA_TRY(const TensorView to, wide_output(scope, output));
  for (size_t i = 0; i < turns.size(); ++i) {
    const TensorView& from = turns[reverse ? turns.size() - 1 - i : i].view();
    MICA_CHECK(std::ranges::equal(from.shape(), turns[0].view().shape()), kBadShape,
               "results of turn {} and turn 0 have different shapes", i);
    TensorView part = slice_axis(to, axis, static_cast<int64_t>(i), 1);
    for (int k = axis; k + 1 < part.rank; ++k) {
      part.dims[static_cast<size_t>(k)] = part.dims[static_cast<size_t>(k + 1)];
      part.strides[static_cast<size_t>(k)] = part.strides[static_cast<size_t>(k + 1)];
    }
    --part.rank;
    MICA_TRY_STATUS(copy_kept(scope, from, part));
  }
  finish_output(scope, output, to);
  return {};
}

}  // namespace mica::region
