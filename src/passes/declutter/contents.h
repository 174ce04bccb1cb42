// What rules share: numbers in constants, reshapes to a shape, transpositions of matrices.
#pragma once
#include <algorithm>
#include <array>
#include <cmath>
#include <optional>

#include "ir/builder.h"
#include "ops/move/reshape.h"
#include "ops/move/slice.h"
#include "ops/move/transpose.h"

namespace mica {
MICA_DECLARE_OP(reshape);
}

namespace mica::contents {

inline std::vector<double> numbers(const Value& value) {
  const Elements elements(value.constant->view);
  std::vector<double> list(static_cast<size_t>(value.constant->view.count()));
  for (size_t i = 0; i < list.size(); ++i) list[i] = elements.number(static_cast<int64_t>(i));
  return list;
}

inline std::vector<int64_t> dims_of(const Value& value) {
  std::vector<int64_t> dims;
  for (Dim d : value.type.shape.span()) dims.push_back(d.value());
  return dims;
}

// The axes of a transposition's operand in the order that its result has them.
inline std::vector<int64_t> order_of(const Node& transposition) {
  const int rank = transposition.inputs[0]->type.shape.rank;
  const Ints& perm = transposition.attributes<Transpose>().perm;
  std::vector<int64_t> order;
  for (int i = 0; i < rank; ++i) order.push_back(perm.empty() ? rank - 1 - i : perm[static_cast<size_t>(i)]);
  for (int64_t& axis : order) axis += axis < 0 ? rank : 0;
  return order;
}

inline bool has_order(const Node& transposition, const Ints& order) {
  return std::ranges::equal(order_of(transposition), order);
}

// What a slice takes of an operand of `dims`, when its lists are known; nothing when they are wrong.
inline std::optional<SliceCut> cut_of(const Node& slice, std::span<const int64_t> dims) {
  const TensorView* operands[4] = {};
  for (size_t i = 1; i < slice.inputs.size() && i < 5; ++i)
    if (slice.inputs[i] && !(operands[i - 1] = slice.inputs[i]->contents())) return {};
  if (!operands[0] || !operands[1]) return {};
  auto cut = slice_cut(dense_view(nullptr, slice.inputs[0]->type.dtype, dims),
                       {operands[0], operands[1], operands[2], operands[3]});
  return cut.ok() ? std::optional(cut.take()) : std::nullopt;
}

// A constant of `value`'s element type; each number is rounded once.
inline Value* constant(Builder& build, DType dtype, std::span<const int64_t> dims, std::span<const double> list) {
  OwnedTensor tensor = value_or_throw(OwnedTensor::make(dtype, dims));
  const Elements elements(tensor.view());
  for (size_t i = 0; i < list.size(); ++i) elements.set_number(static_cast<int64_t>(i), list[i]);
  return build.graph().add_constant(Constant::own(std::move(tensor)));
}

// Weights [N, C, 1, 1] of the convolution that does with channels what a product with the matrix `w`, [C, N], does.
inline Value* conv_weights(Builder& build, const Value& w) {
  const std::vector<double> plain = numbers(w);
  const int64_t channels = w.type.shape[0].value(), made = w.type.shape[1].value();
  std::vector<double> turned;
  turned.reserve(plain.size());
  for (int64_t n = 0; n < made; ++n)
    for (int64_t c = 0; c < channels; ++c) turned.push_back(plain[static_cast<size_t>(c * made + n)]);
  Value* weights = constant(build, w.type.dtype, std::array<int64_t, 4>{made, channels, 1, 1}, turned);
  weights->name = w.name;
  return weights;
}

// The number of a constant whose elements are all the same one.
inline std::optional<double> uniform(const Value* value) {
  if (!value || !value->is_constant() || value->constant->view.count() < 1 || value->type.dtype == DType::kString)
    return {};
  if (value->constant->view.count() > 4096) return {};
  const std::vector<double> list = numbers(*value);
  for (double x : list)
    if (!(x == list[0])) return {};
  return list[0];
}
inline bool is_number(const Value* value, double wanted) {
  const auto number = uniform(value);
  return number && std::fabs(*number - wanted) <= 1e-6 * std::fabs(wanted);
}

// One number per index of `axis` (of a tensor of `rank` dimensions), whatever the constant's own rank; empty when it
// varies otherwise. A single number counts for `count` of them.
inline std::vector<double> along_axis(const Value& value, int rank, int axis, int64_t count) {
  const Shape& shape = value.type.shape;
  if (!shape.fixed() || shape.rank > rank) return {};
  for (int i = 0; i < shape.rank; ++i) {
    const int at = i + rank - shape.rank;
    if (!shape[i].is(1) && !(at == axis && shape[i].is(count))) return {};
  }
  std::vector<double> list = numbers(value);
  if (list.size() == 1) list.assign(static_cast<size_t>(count), list[0]);
  return list.size() == static_cast<size_t>(count) ? list : std::vector<double>();
}

// reshape(x) to `shape`, of as many elements; null when its dimensions cannot all be said: each is a number, what x has
// in that place, or the one that follows from the others. Nothing is known of how empty tensors are parted.
inline Value* reshaped(Builder& build, Value* x, const Shape& shape) {
  const Shape& from = x->type.shape;
  if (!shape.known()) return nullptr;
  std::vector<int64_t> dims;
  for (int i = 0; i < shape.rank; ++i) {
    const bool kept = i < from.rank && from[i] == shape[i];
    if (shape[i].is(0)) return nullptr;
    dims.push_back(shape[i].is_fixed() ? shape[i].value() : kept ? 0 : -1);
  }
  if (std::ranges::count(dims, -1) > 1) return nullptr;
  return build.one(op_reshape, Reshape{}, {x, build.ints(dims)});
}

// Whether a transposition gives each matrix of the last two dimensions transposed and leaves the others.
inline bool swaps_last_two(const Node& transpose) {
  const Ints& perm = transpose.attributes<Transpose>().perm;
  const auto rank = static_cast<int64_t>(perm.size());
  if (rank < 2) return false;
  for (int64_t i = 0; i < rank; ++i)
    if (perm[static_cast<size_t>(i)] != (i < rank - 2 ? i : 2 * rank - 3 - i)) return false;
  return true;
}

// The elements of an integer tensor, when each is a known number.
inline std::optional<std::vector<int64_t>> integers(const Value* value) {
  if (!value) return {};
  std::vector<int64_t> list;
  if (const TensorView* view = value->contents()) {
    if (!is_integer(view->dtype) || view->count() > kMaxKnownElements) return {};
    for (int64_t i = 0; i < view->count(); ++i) list.push_back(Elements(*view).integer(i));
    return list;
  }
  if (!value->has_values) return {};
  for (Dim d : value->values) {
    if (!d.is_fixed()) return {};
    list.push_back(d.value());
  }
  return list;
}

// A reshape to `shape` from any tensor with as many elements: at most one dimension is left to be computed. Null when
// that does not say the shape.
inline std::optional<std::vector<int64_t>> reshape_target(const Shape& shape) {
  if (!shape.known()) return {};
  std::vector<int64_t> dims;
  int open = 0;
  bool zero = false;
  for (Dim d : shape.span()) {
    dims.push_back(d.is_fixed() ? d.value() : -1);
    open += !d.is_fixed();
    zero = zero || d.is(0);
  }
  return open > 1 || (open == 1 && zero) ? std::nullopt : std::optional(dims);
}

// Whether there is such an operand, and it is no empty list, which counts as left out.
inline bool is_given(const Node& node, size_t input) {
  const Value* v = input < node.inputs.size() ? node.inputs[input] : nullptr;
  return v && !(v->type.shape.rank == 1 && v->type.shape[0].is(0));
}

inline bool is_float(const Value* value) {
  return value && mica::is_float(value->type.dtype) && value->type.dtype != DType::kF64;
}

}  // namespace mica::contents
