// Slice with starts, ends, axes and steps as operands, clamped as ONNX 13 defines it.
#include <algorithm>
#include <optional>

#include "ops/move/slice.h"

namespace mica {
namespace {

// Elements begin, begin + step, … of one axis; as dims, so that symbolic shapes go through.
struct Cut {
  Dim begin = 0, length = 0;
};

// Nothing when the sign of a symbolic start or end is not known. `step` is not 0.
std::optional<Cut> cut_axis(Dim size, Dim start, Dim end, int64_t step, DimTable& dims) {
  // Exporters write huge numbers for "to the end": past these an end is the end, so that no odd expression comes up. A
  // fixed size needs it against overflow only.
  const int64_t far = size.is_fixed() ? int64_t{1} << 60 : std::numeric_limits<int32_t>::max();
  const auto clamp = [&](Dim at, Dim low, Dim high, Dim& out) {
    if (at.is_fixed() && (at.value() >= far || at.value() <= -far)) {
      out = at.value() > 0 ? high : low;
      return true;
    }
    const DimTable::Interval range = dims.interval(at);
    if (range.low < 0 && range.high >= 0) return false;
    if (range.high < 0) at = dims.add(size, at);
    out = dims.max(dims.min(at, high), low);
    return true;
  };
  const Dim last = step > 0 ? size : dims.sub(size, 1);
  Cut cut;
  Dim stop;
  if (!clamp(start, 0, last, cut.begin) || !clamp(end, step > 0 ? 0 : -1, last, stop)) return std::nullopt;
  const Dim span = step > 0 ? dims.sub(stop, cut.begin) : dims.sub(cut.begin, stop);
  cut.length = dims.max(dims.ceil_div(span, step > 0 ? step : -step), 0);
  if (step < 0) cut.length = dims.min(cut.length, size);  // an empty axis has no last element to begin at
  return cut;
}

Status check_step(int64_t step) {
  constexpr int64_t kMaxStep = int64_t{1} << 60;
  MICA_CHECK(step != 0, kBadValue, "a slice with step 0");
  MICA_CHECK(step < kMaxStep && step > -kMaxStep, kBadValue, "a slice with step {}", step);
  return {};
}

Status all_fresh(InferScope& scope, Shape shape) {
  for (int i = 0; i < shape.rank; ++i) shape[i] = scope.dims().fresh("slice");
  scope.out(0, scope.dtype(0), shape);
  return {};
}

// Starts or ends. The least numbers of 64 bits, with which exporters say "from the beginning", are no dimensions: they
// become others that are far enough.
bool bounds_at(const InferScope& scope, int input, Dims& room, std::span<const Dim>& list) {
  if (scope.known_dims(input, list)) return true;
  Ints numbers;
  if (!scope.ints(input, numbers)) return false;
  constexpr int64_t kFar = int64_t{1} << 61;
  for (int64_t number : numbers)
    if (!room.push(std::clamp(number, -kFar, kFar))) return false;
  list = room.span();
  return true;
}

Status infer(InferScope& scope) {
  Shape out = scope.shape(0);
  if (!out.known()) return all_fresh(scope, out);
  std::span<const Dim> starts, ends;
  Dims starts_room, ends_room;
  const bool bounds = bounds_at(scope, 1, starts_room, starts) && bounds_at(scope, 2, ends_room, ends);
  Ints axes, steps;
  if (scope.has(3)) {
    if (!scope.ints(3, axes)) return all_fresh(scope, out);
    MICA_TRY_STATUS(normalize_axes(axes, out.rank));
  } else {
    const Shape& list = scope.shape(1);
    if (!list.known() || list.rank != 1 || !list[0].is_fixed()) return all_fresh(scope, out);
    MICA_CHECK(list[0].value() >= 0 && list[0].value() <= out.rank, kBadShape, "slice lists {} starts for rank {}",
               list[0].value(), out.rank);
    for (int64_t i = 0; i < list[0].value(); ++i) axes.push(i);
  }
  const bool stepped = !scope.has(4) || scope.ints(4, steps);
  for (size_t i = 0; i < axes.size(); ++i) {
    const int axis = static_cast<int>(axes[i]);
    MICA_CHECK(!bounds || (i < starts.size() && i < ends.size()), kBadShape,
               "slice lists {} axes, {} starts and {} ends", axes.size(), starts.size(), ends.size());
    MICA_CHECK(!scope.has(4) || !stepped || steps.size() == axes.size(), kBadShape, "slice lists {} axes and {} steps",
               axes.size(), steps.size());
    if (stepped) MICA_TRY_STATUS(check_step(steps.get(i, 1)));
    std::optional<Cut> cut;
    if (bounds && stepped) cut = cut_axis(out[axis], starts[i], ends[i], steps.get(i, 1), scope.dims());
    out[axis] = cut ? cut->length : scope.dims().fresh("slice");
  }
  scope.out(0, scope.dtype(0), out);
  return {};
}

}  // namespace

Result<SliceCut> slice_cut(const TensorView& in, const SliceOperands& operands) {
  MICA_TRY(const Ints starts, read_ints(*operands.starts, "starts"));
  MICA_TRY(const Ints ends, read_ints(*operands.ends, "ends"));
  Ints axes, steps;
  if (operands.axes) {
    MICA_TRY(axes, read_ints(*operands.axes, "axes"));
  } else {
    for (size_t i = 0; i < starts.size(); ++i) axes.push(static_cast<int64_t>(i));
  }
  MICA_TRY_STATUS(normalize_axes(axes, in.rank));
  if (operands.steps) {
    MICA_TRY(steps, read_ints(*operands.steps, "steps"));
  }
  const bool agree =
      starts.size() == axes.size() && ends.size() == axes.size() && (!operands.steps || steps.size() == axes.size());
  MICA_CHECK(agree, kBadShape, "slice lists {} axes, {} starts, {} ends and {} steps", axes.size(), starts.size(),
             ends.size(), steps.size());
  SliceCut result;
  for (int i = 0; i < in.rank; ++i) result.length[i] = in.dim(i);
  DimTable dims;
  for (size_t i = 0; i < axes.size(); ++i) {
    const auto axis = static_cast<int>(axes[i]);
    const int64_t step = steps.get(i, 1);
    MICA_TRY_STATUS(check_step(step));
    const std::optional<Cut> known = cut_axis(in.dim(axis), starts[i], ends[i], step, dims);
    const Cut cut = known.value_or(Cut());
    result.begin[axis] = cut.begin.value();
    result.length[axis] = cut.length.value();
    result.step[axis] = cut.length.value() > 1 ? step : 1;
  }
  if (!dims.status().ok()) return dims.status().copy().take_error();
  return result;
}

namespace {

// The part of `in` that the operands choose.
Result<TensorView> cut_view(const RunScope& scope, TensorView in) {
  const auto given = [&](int i) { return scope.has(i) ? &scope.in(i) : nullptr; };
  MICA_TRY(const SliceCut cut, slice_cut(in, {&scope.in(1), &scope.in(2), given(3), given(4)}));
  for (int i = 0; i < in.rank; ++i) in = slice_axis(in, i, cut.begin[i], cut.length[i], cut.step[i]);
  return in;
}

Status reference(RunScope& scope) {
  MICA_TRY(const TensorView in, wide_input(scope, 0));
  MICA_TRY(const TensorView from, cut_view(scope, in));
  MICA_TRY_STATUS(scope.allocate_output(0, from.shape()));
  MICA_TRY(const TensorView to, wide_output(scope, 0));
  copy_elements(from, to);
  finish_output(scope, 0, to);
  return {};
}

bool view(const RunScope& scope, const TensorView& in, TensorView& out, int) {
  if (is_sub_byte(in.dtype)) return false;
  for (int i = 1; i <= 4; ++i)
    if (scope.has(i) && !scope.in(i).data) return false;
  Result<TensorView> cut = cut_view(scope, in);
  if (cut.ok()) out = *cut;
  return cut.ok();
}

}  // namespace

MICA_OP(slice) = {
    .name = "slice",
    .doc = "Elements start, start + step, … before end of the listed axes; negative numbers count from the end",
    .inputs = {3, 5},
    .infer = infer,
    .reference = reference,
    .flops = [](const CostScope&) -> int64_t { return 0; },
    .view = view,
    .dim_rule = DimRule::kMove,
    .layout = LayoutRule::kAny};

}  // namespace mica
