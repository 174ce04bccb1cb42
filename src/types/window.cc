#include "types/window.h"

#include "types/dense.h"

namespace mica {
namespace {

constexpr int64_t kLargest = int64_t{1} << 31;

Status check_list(const Ints& list, int spatial, int64_t least, std::string_view what) {
  MICA_CHECK(list.empty() || list.size() == static_cast<size_t>(spatial), kBadAttribute,
             "`{}` has {} items, expected {}: one for each spatial axis (pads: two)", what, list.size(), spatial);
  for (int64_t v : list)
    MICA_CHECK(v >= least && v <= kLargest, kBadAttribute, "`{}` holds {}, which is out of range", what, v);
  return {};
}

struct Axis {
  int64_t stride, dilation, pad_begin, pad_end;
};
Axis axis_of(const WindowSpec& spec, int axis, int spatial) {
  const auto a = static_cast<size_t>(axis);
  const bool pads = spec.auto_pad == AutoPad::kNotSet;
  return {spec.strides.get(a, 1), spec.dilations.get(a, 1), pads ? spec.pads.get(a, 0) : 0,
          pads ? spec.pads.get(a + static_cast<size_t>(spatial), 0) : 0};
}

bool is_same(AutoPad pad) { return pad == AutoPad::kSameUpper || pad == AutoPad::kSameLower; }

}  // namespace

Status check_window(const WindowSpec& spec, int spatial) {
  MICA_CHECK(spatial >= 0 && spatial <= kMaxSpatial, kBadRank, "{} spatial axes: 0 to {} are supported", spatial,
             kMaxSpatial);
  MICA_TRY_STATUS(check_list(spec.strides, spatial, 1, "strides"));
  MICA_TRY_STATUS(check_list(spec.dilations, spatial, 1, "dilations"));
  return check_list(spec.pads, 2 * spatial, 0, "pads");
}

Result<Dim> window_count(const WindowSpec& spec, SpatialAxis axis, Dim in, Dim kernel, DimTable& dims) {
  const Axis a = axis_of(spec, axis.index, axis.count);
  if (kernel.is_fixed())
    MICA_CHECK(kernel.value() > 0 && kernel.value() <= kLargest, kBadShape,
               "the window's size along spatial axis {} is {}", axis.index, kernel.value());
  if (is_same(spec.auto_pad)) return dims.ceil_div(in, a.stride);
  const Dim extent = dims.add(dims.mul(dims.sub(kernel, 1), a.dilation), 1);
  const Dim padded = dims.add(in, a.pad_begin + a.pad_end);
  const Dim room = dims.sub(padded, extent);
  // Rounded up, the one window may reach beyond the padding at the end, by less than a stride.
  if (room.is_fixed())
    MICA_CHECK(room.value() >= 0 || (spec.ceil_mode && room.value() > -a.stride), kBadShape,
               "a window that spans {} does not fit the padded input of {} along spatial axis {}",
               extent.is_fixed() ? extent.value() : -1, padded.is_fixed() ? padded.value() : -1, axis.index);
  if (!spec.ceil_mode) return dims.add(dims.floor_div(room, a.stride), 1);
  Dim count = dims.add(dims.ceil_div(room, a.stride), 1);
  // A window that begins beyond the input and the padding before it would see no element. It can only exist when it
  // fits between the ends of the padding with a stride to spare.
  if (!extent.is_fixed() || extent.value() - a.pad_end < a.stride)
    count = dims.min(count, dims.add(dims.floor_div(dims.add(in, a.pad_begin - 1), a.stride), 1));
  return count;
}

Result<int64_t*> window_table(RunScope& scope, const Window& w) {
  const int64_t positions = w.positions(), taps = w.taps();
  int64_t count = 0;
  MICA_CHECK(!__builtin_mul_overflow(positions, taps, &count), kBadShape, "{} windows of {} taps are too many",
             positions, taps);
  MICA_TRY(int64_t * table, zero_integers(scope, count));
  if (count == 0) return table;
  std::array<int64_t, kMaxSpatial> at{}, tap{};
  int64_t* next = table;
  do {
    at = {};
    do *next++ = w.input_at(at.data(), tap.data());
    while (next_index(at.data(), w.out_dims()));
  } while (next_index(tap.data(), w.kernel_dims()));
  return table;
}

Result<Window> fixed_window(const WindowSpec& spec, std::span<const int64_t> in, std::span<const int64_t> kernel) {
  const int spatial = static_cast<int>(in.size());
  MICA_TRY_STATUS(check_window(spec, spatial));
  MICA_CHECK(kernel.size() == in.size(), kBadAttribute, "the window has {} axes, the input {} spatial ones",
             kernel.size(), in.size());
  Window w;
  w.spatial = spatial;
  DimTable none;
  for (int i = 0; i < spatial; ++i) {
    const auto k = static_cast<size_t>(i);
    const Axis a = axis_of(spec, i, spatial);
    w.in[k] = in[k];
    w.kernel[k] = kernel[k];
    w.stride[k] = a.stride;
    w.dilation[k] = a.dilation;
    w.pad_begin[k] = a.pad_begin;
    w.pad_end[k] = a.pad_end;
    MICA_TRY(Dim count, window_count(spec, {i, spatial}, in[k], kernel[k], none));
    w.out[k] = count.value();
    if (!is_same(spec.auto_pad)) continue;
    const int64_t extent = (kernel[k] - 1) * a.dilation + 1;
    const int64_t total = std::max<int64_t>(0, (w.out[k] - 1) * a.stride + extent - in[k]);
    w.pad_begin[k] = spec.auto_pad == AutoPad::kSameUpper ? total / 2 : total - total / 2;
    w.pad_end[k] = total - w.pad_begin[k];
  }
  return w;
}

}  // namespace mica
