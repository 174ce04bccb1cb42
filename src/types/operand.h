// Operands as inference and references need them: run-time values that steer memory, checked; shapes given by an
// operand; and tensors of sub-byte elements as tensors of bytes, so that what moves elements has one body.
#pragma once
#include "types/infer.h"

namespace mica {

// --- Inference ---

// The shape that an operand of integers spells: its elements when they are known, else fresh data-dependent dims when
// its length is, else an unknown rank. Errors: kBadRank unless it is a scalar or a list.
Result<Shape> shape_operand(InferScope& scope, int input, std::string_view stem);
// The axes that operand `input` lists, made non-negative; all of 0 … rank-1 when it is left out. False when they are
// not known. Errors: kBadAttribute for one out of range or repeated.
Result<bool> axes_operand(const InferScope& scope, int input, int rank, Ints& axes);
Status normalize_axes(Ints& axes, int rank);
// One dim in common: the fixed one of two, or the first. Errors: kBadShape when two fixed ones differ.
Result<Dim> same_dim(Dim a, Dim b, std::string_view what);

// --- Run time ---

// Elements of an integer operand of rank 0 or 1. Errors: kBadType, kBadRank, kLimit when longer than an Ints.
Result<Ints> read_ints(const TensorView& view, std::string_view what);
// The only element of an operand. Errors: kBadShape.
Result<int64_t> read_int(const TensorView& view, std::string_view what);
Result<double> read_number(const TensorView& view, std::string_view what);
// An index into `size` elements, counted from the end when negative. Errors: kBadValue.
Result<int64_t> checked_index(int64_t index, int64_t size, std::string_view what);
// allocate_output for a shape computed with a DimTable of numbers; reports the table's overflow. Errors: kBadShape,
// kOutOfMemory.
Status allocate_output(RunScope& scope, int output, const Shape& shape, const DimTable& dims);
inline Status allocate_output(RunScope& scope, int output, std::span<const int64_t> dims) {
  return scope.allocate_output(output, dims);
}

// Input i with elements of whole bytes: as it is, or its codes of 2, 4 or 6 bits unpacked to u8. Errors: kOutOfMemory.
Result<TensorView> wide_input(RunScope& scope, int input);
Result<TensorView> wide_view(RunScope& scope, const TensorView& view);
// Where to put output i's elements (after allocate_output): itself, or bytes that `finish_output` packs.
Result<TensorView> wide_output(RunScope& scope, int output);
void finish_output(RunScope& scope, int output, const TensorView& wide);

// Copies elements out of a tensor that does not live as long as `to`: strings are kept by the scope, codes of 2, 4 or 6
// bits widen to `to`'s bytes. Errors: kOutOfMemory.
Status copy_kept(RunScope& scope, const TensorView& from, const TensorView& to);

// The address of an element by multi-index, for elements of whole bytes.
inline char* element_at(const TensorView& view, const int64_t* index) {
  char* at = static_cast<char*>(view.data);
  for (int i = 0; i < view.rank; ++i) at += index[i] * view.stride(i);
  return at;
}
// Sets every element to the `bytes` at `value`.
void fill_elements(const TensorView& view, const void* value);
// A view of the elements begin, begin + step, … of an axis; `length` of them.
inline TensorView slice_axis(TensorView view, int axis, int64_t begin, int64_t length, int64_t step = 1) {
  const auto a = static_cast<size_t>(axis);
  // By number: a view that only says sizes has no address.
  if (length > 0) view.data = reinterpret_cast<void*>(reinterpret_cast<intptr_t>(view.data) + begin * view.strides[a]);
  view.dims[a] = length;
  view.strides[a] *= step;
  return view;
}
// Reads `view`'s axes in another order: axis i of the result is axis order[i].
TensorView permute_axes(const TensorView& view, std::span<const int64_t> order);

}  // namespace mica
