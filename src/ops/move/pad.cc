#include "ops/move/pad.h"

#include <cstring>

#include "types/stop.h"

namespace mica {
namespace {

Status infer(InferScope& scope) {
  Shape out = scope.shape(0);
  if (scope.has(2)) MICA_TRY_STATUS(require_same_dtype(scope, 0, 2));
  if (!out.known()) {
    scope.out(0, scope.dtype(0), out);
    return {};
  }
  Ints axes;
  std::span<const Dim> pads;
  MICA_TRY(const bool known_axes, axes_operand(scope, 3, out.rank, axes));
  const bool known = known_axes && scope.known_dims(1, pads);
  MICA_CHECK(!known || pads.size() == 2 * axes.size(), kBadShape, "pad lists {} numbers for {} axes", pads.size(),
             axes.size());
  if (!known_axes)
    for (int i = 0; i < out.rank; ++i) out[i] = scope.dims().fresh("pad");
  for (size_t i = 0; i < axes.size() && known_axes; ++i) {
    Dim& d = out[static_cast<int>(axes[i])];
    d = known ? scope.dims().add(d, scope.dims().add(pads[i], pads[axes.size() + i])) : scope.dims().fresh("pad");
    MICA_CHECK(!d.is_fixed() || d.value() >= 0, kBadShape, "padding axis {} would leave {} elements", axes[i],
               d.value());
  }
  scope.out(0, scope.dtype(0), out);
  return {};
}

}  // namespace

Result<Padding> read_padding(const TensorView& list, const TensorView* axes_list, int rank) {
  MICA_TRY(const Ints pads, read_ints(list, "pads"));
  Ints axes;
  if (axes_list) {
    MICA_TRY(axes, read_ints(*axes_list, "axes"));
    MICA_TRY_STATUS(normalize_axes(axes, rank));
  } else {
    for (int i = 0; i < rank; ++i) axes.push(i);
  }
  MICA_CHECK(pads.size() == 2 * axes.size(), kBadShape, "pad lists {} numbers for {} axes", pads.size(), axes.size());
  Padding padding;
  for (size_t i = 0; i < axes.size(); ++i) {
    padding.before[axes[i]] = pads[i];
    padding.after[axes[i]] = pads[axes.size() + i];
  }
  return padding;
}

namespace {

// Where each element of the output's axes comes from, one table per axis.
Result<const int64_t*> source_table(RunScope& scope, int64_t size, int64_t before, int64_t length) {
  const PadMode mode = scope.attributes<Pad>().mode;
  MICA_CHECK(size > 0 || length == 0 || mode == PadMode::kConstant, kBadShape,
             "an axis without elements can be padded with a constant only");
  MICA_TRY(void* memory, scope.allocate(static_cast<size_t>(length) * sizeof(int64_t)));
  auto* table = static_cast<int64_t*>(memory);
  for (int64_t i = 0; i < length; ++i) table[i] = size ? padded_source(mode, i - before, size) : -1;
  return table;
}

Status reference(RunScope& scope) {
  MICA_TRY(const TensorView from, wide_input(scope, 0));
  MICA_TRY(const Padding padding, read_padding(scope.in(1), scope.has(3) ? &scope.in(3) : nullptr, from.rank));
  Shape shape = from.to_shape();
  DimTable dims;
  for (int i = 0; i < from.rank; ++i) shape[i] = dims.add(shape[i], dims.add(padding.before[i], padding.after[i]));
  MICA_TRY_STATUS(allocate_output(scope, 0, shape, dims));
  MICA_TRY(const TensorView to, wide_output(scope, 0));
  alignas(16) char fill[16] = {};
  static constexpr StringRef kEmpty{"", 0};
  if (from.dtype == DType::kString) std::memcpy(fill, &kEmpty, sizeof kEmpty);
  if (scope.has(2)) {
    MICA_TRY(const TensorView value, wide_input(scope, 2));
    MICA_CHECK(value.count() == 1, kBadShape, "the constant to pad with has {} elements", value.count());
    const int64_t zero[kMaxRank] = {};
    std::memcpy(fill, element_at(value, zero), static_cast<size_t>(element_bytes(from.dtype)));
  }
  const int64_t* tables[kMaxRank];
  for (int i = 0; i < from.rank; ++i) {
    MICA_TRY(tables[i], source_table(scope, from.dim(i), padding.before[i], to.dim(i)));
  }
  const auto bytes = static_cast<size_t>(element_bytes(from.dtype));
  int64_t at[kMaxRank] = {};
  StopCheck stop(scope);
  if (!to.empty()) do {
      MICA_TRY_STATUS(stop.before(1));
      const char* source = static_cast<const char*>(from.data);
      for (int i = 0; i < from.rank && source; ++i) {
        const int64_t j = tables[i][at[i]];
        source = j < 0 ? nullptr : source + j * from.stride(i);
      }
      std::memcpy(element_at(to, at), source ? source : fill, bytes);
    } while (next_index(at, to.shape()));
  finish_output(scope, 0, to);
  return {};
}

// Whether the axis is the innermost one, or the outermost one of a dense tensor.
bool is_at_an_end(const TensorView& view, int axis) {
  const int64_t bytes = element_bytes(view.dtype), stride = view.stride(axis);
  return stride == bytes || stride * view.dim(axis) == view.count() * bytes;
}

// What is padded with a constant, and not cut, is a part of the result. Along an axis between others its rows would
// stand apart, which costs its producer more than a copy.
bool compose(const RunScope& scope, const TensorView& out, TensorView& in, int input) {
  if (input != 0 || scope.attributes<Pad>().mode != PadMode::kConstant || in.empty()) return false;
  if (out.dtype == DType::kString || !scope.in(1).data || (scope.has(3) && !scope.in(3).data)) return false;
  const auto padding = read_padding(scope.in(1), scope.has(3) ? &scope.in(3) : nullptr, out.rank);
  if (!padding.ok()) return false;
  TensorView part = out;
  for (int i = 0; i < out.rank; ++i) {
    if (padding->before[i] < 0 || padding->after[i] < 0) return false;
    if (padding->before[i] + padding->after[i] > 0 && !is_at_an_end(out, i)) return false;
    part = slice_axis(part, i, padding->before[i], in.dim(i));
  }
  in.data = part.data;
  in.strides = part.strides;
  return true;
}

}  // namespace

MICA_OP(pad) = {.name = "pad",
                .doc = "Elements added (or cut, where negative) before and after the listed axes",
                .inputs = {2, 4},
                .attributes = attr_class<Pad>(),
                .infer = infer,
                .reference = reference,
                .flops = [](const CostScope&) -> int64_t { return 0; },
                .compose = compose,
                .dim_rule = DimRule::kMove,
                .layout = LayoutRule::kAny};

}  // namespace mica
