#include "types/operand.h"

#include <cstring>

namespace mica {

Result<Shape> shape_operand(InferScope& scope, int input, std::string_view stem) {
  const Shape& own = scope.shape(input);
  MICA_CHECK(!own.known() || own.rank <= 1, kBadRank, "input {} lists integers and must have rank 1, not {}", input,
             own.rank);
  std::span<const Dim> list;
  if (scope.known_dims(input, list)) {
    MICA_CHECK(list.size() <= static_cast<size_t>(kMaxRank), kLimit,
               "a shape has {} dimensions; at most {} are supported", list.size(), kMaxRank);
    return Shape(list);
  }
  if (!own.known()) return Shape();
  const Dim length = own.rank == 0 ? Dim(1) : own[0];
  if (!length.is_fixed()) return Shape();
  MICA_CHECK(length.value() >= 0 && length.value() <= kMaxRank, kLimit,
             "a shape has {} dimensions; at most {} are supported", length.value(), kMaxRank);
  Shape shape = Shape::of_rank(static_cast<int>(length.value()));
  for (int i = 0; i < shape.rank; ++i) shape[i] = scope.dims().fresh(stem);
  return shape;
}

Status normalize_axes(Ints& axes, int rank) {
  bool seen[kMaxRank] = {};
  for (size_t i = 0; i < axes.size(); ++i) {
    MICA_TRY(const int axis, normalize_axis(axes[i], rank, "axes"));
    MICA_CHECK(!seen[axis], kBadAttribute, "axis {} stands twice in axes", axis);
    seen[axis] = true;
    axes[i] = axis;
  }
  return {};
}

Result<bool> axes_operand(const InferScope& scope, int input, int rank, Ints& axes) {
  axes = {};
  if (!scope.has(input)) {
    for (int i = 0; i < rank; ++i) axes.push(i);
    return true;
  }
  MICA_TRY_STATUS(require_rank(scope, input, 0, 1));
  if (!scope.ints(input, axes)) return false;
  MICA_TRY_STATUS(normalize_axes(axes, rank));
  return true;
}

Result<Dim> same_dim(Dim a, Dim b, std::string_view what) {
  MICA_CHECK(!a.is_fixed() || !b.is_fixed() || a == b, kBadShape, "{} must be equal, but are {} and {}", what,
             a.value(), b.value());
  return a.is_fixed() ? a : b.is_fixed() ? b : a;
}

Result<Ints> read_ints(const TensorView& view, std::string_view what) {
  MICA_CHECK(is_integer(view.dtype), kBadType, "{} must be integers, not {}", what, name_of(view.dtype));
  MICA_CHECK(view.rank <= 1, kBadRank, "{} must have rank 1, not {}", what, view.rank);
  const int64_t count = view.count();
  Ints list;
  MICA_CHECK(count <= static_cast<int64_t>(list.items.size()), kLimit, "{} has {} elements; at most {} are supported",
             what, count, list.items.size());
  const Elements elements(view);
  for (int64_t i = 0; i < count; ++i) list.push(elements.integer(i));
  return list;
}

Result<int64_t> read_int(const TensorView& view, std::string_view what) {
  MICA_CHECK(is_integer(view.dtype), kBadType, "{} must be an integer, not {}", what, name_of(view.dtype));
  MICA_CHECK(view.count() == 1, kBadShape, "{} must be one number, but has {} elements", what, view.count());
  return Elements(view).integer(0);
}

Result<double> read_number(const TensorView& view, std::string_view what) {
  MICA_CHECK(view.count() == 1 && view.dtype != DType::kString, kBadShape, "{} must be one number, but has {} elements",
             what, view.count());
  return Elements(view).number(0);
}

Result<int64_t> checked_index(int64_t index, int64_t size, std::string_view what) {
  MICA_CHECK(index >= -size && index < size, kBadValue, "{} {} is outside [{}, {}]", what, index, -size, size - 1);
  return index < 0 ? index + size : index;
}

Status allocate_output(RunScope& scope, int output, const Shape& shape, const DimTable& dims) {
  if (!dims.status().ok()) return dims.status().copy();
  int64_t list[kMaxRank];
  for (int i = 0; i < shape.rank; ++i) {
    MICA_CHECK(shape[i].is_fixed() && shape[i].value() >= 0, kBadShape,
               "dimension {} of output {} is not a number >= 0", i, output);
    list[i] = shape[i].value();
  }
  return scope.allocate_output(output, std::span<const int64_t>(list, static_cast<size_t>(shape.rank)));
}

namespace {

// The same memory, with elements that load and store as their codes.
TensorView as_codes(TensorView view) {
  view.dtype = bits_of(view.dtype) == 2 ? DType::kU2 : DType::kU4;
  return view;
}

Result<TensorView> byte_tensor(RunScope& scope, const TensorView& like) {
  MICA_TRY(void* memory, scope.allocate(static_cast<size_t>(like.count())));
  return dense_view(memory, DType::kU8, like.shape());
}

}  // namespace

Result<TensorView> wide_view(RunScope& scope, const TensorView& view) {
  if (!is_sub_byte(view.dtype)) return view;
  MICA_TRY(TensorView wide, byte_tensor(scope, view));
  const Elements from(as_codes(view));
  const int64_t count = view.count();
  for (int64_t i = 0; i < count; ++i) wide.as<uint8_t>()[i] = static_cast<uint8_t>(from.integer(i));
  return wide;
}

Result<TensorView> wide_input(RunScope& scope, int input) { return wide_view(scope, scope.in(input)); }

Status copy_kept(RunScope& scope, const TensorView& from, const TensorView& to) {
  MICA_TRY(const TensorView wide, wide_view(scope, from));
  copy_elements(wide, to);
  const Elements texts(to);
  for (int64_t i = 0, count = to.dtype == DType::kString ? to.count() : 0; i < count; ++i) {
    MICA_TRY(texts.text(i), scope.keep(texts.text(i).view()));
  }
  return {};
}

Result<TensorView> wide_output(RunScope& scope, int output) {
  const TensorView& view = scope.out(output);
  if (!is_sub_byte(view.dtype)) return view;
  return byte_tensor(scope, view);
}

void finish_output(RunScope& scope, int output, const TensorView& wide) {
  const TensorView& view = scope.out(output);
  if (!is_sub_byte(view.dtype)) return;
  const Elements to(as_codes(view));
  const int64_t count = view.count();
  for (int64_t i = 0; i < count; ++i) to.set_integer(i, wide.as<const uint8_t>()[i]);
}

void fill_elements(const TensorView& view, const void* value) {
  if (view.empty()) return;
  const auto bytes = static_cast<size_t>(element_bytes(view.dtype));
  int64_t index[kMaxRank] = {};
  if (view.contiguous()) {  // what is filled is copied behind itself
    char* const to = element_at(view, index);
    const size_t all = static_cast<size_t>(view.count()) * bytes;
    std::memcpy(to, value, bytes);
    for (size_t done = bytes; done < all; done *= 2) std::memcpy(to + done, to, std::min(done, all - done));
    return;
  }
  do std::memcpy(element_at(view, index), value, bytes);
  while (next_index(index, view.shape()));
}

TensorView permute_axes(const TensorView& view, std::span<const int64_t> order) {
  TensorView out = view;
  for (size_t i = 0; i < order.size(); ++i) {
    out.dims[i] = view.dims[static_cast<size_t>(order[i])];
    out.strides[i] = view.strides[static_cast<size_t>(order[i])];
  }
  return out;
}

}  // namespace mica
