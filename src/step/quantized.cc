#include "step/quantized.h"

#include "kernels/quant/quant.h"

namespace mica {
namespace {

// Lines of adjacent elements on both sides, by four outer counters: image, then (channels in planes) channel, depth,
// row, or (channels innermost) depth, row, pixel.
struct Lines {
  int64_t outer[4] = {1, 1, 1, 1};
  int64_t in[4] = {0, 0, 0, 0}, out[4] = {0, 0, 0, 0};
  int64_t length = 1;
};

bool innermost_pixels(const ImageView& v) { return v.pixel == 1 || v.extent[2] == 1; }

Lines plane_lines(const ImageView& in, const ImageView& out) {
  return {{in.images, in.channels, in.extent[0], in.extent[1]},
          {in.image, in.channel, in.depth, in.row},
          {out.image, out.channel, out.depth, out.row},
          in.extent[2]};
}
Lines pixel_lines(const ImageView& in, const ImageView& out) {
  return {{in.images, in.extent[0], in.extent[1], in.extent[2]},
          {in.image, in.depth, in.row, in.pixel},
          {out.image, out.depth, out.row, out.pixel},
          in.channels};
}

// Merges the last counters into the line where both sides have no gap; down to counter `keep`.
void merge(Lines& lines, int keep) {
  for (int i = 3; i >= keep; --i) {
    if (lines.outer[i] != 1 && (lines.in[i] != lines.length || lines.out[i] != lines.length)) return;
    lines.length *= lines.outer[i];
    lines.outer[i] = 1;
  }
}

struct Convert {
  Lines lines;
  int from = 0, to = 0;  // operands
  DType dtype = DType::kU8;
  bool planes = false;  // multipliers belong to counter 1
  ZeroPoint zero;
  Requantize how;
  const QuantKernels* kernels = nullptr;
};

// visit(offset in, offset out, channel) for each line of the tasks.
template <class Visit>
void for_lines(const Lines& l, const TaskRange& range, Visit visit) {
  for (int64_t task = range.begin; task < range.end; ++task) {
    const int64_t c = task % l.outer[2], b = task / l.outer[2] % l.outer[1], a = task / l.outer[2] / l.outer[1];
    for (int64_t d = 0; d < l.outer[3]; ++d)
      visit(a * l.in[0] + b * l.in[1] + c * l.in[2] + d * l.in[3],
            a * l.out[0] + b * l.out[1] + c * l.out[2] + d * l.out[3], b);
  }
}

void widen(const void* arguments, void* const* operands, const TaskRange& range) {
  const Convert& v = *static_cast<const Convert*>(arguments);
  float* to = static_cast<float*>(operands[v.to]);
  float zero = static_cast<float>(v.zero.value);
  if (v.zero.operand >= 0) {
    const void* at = operands[v.zero.operand];
    zero = v.dtype == DType::kU8 ? *static_cast<const uint8_t*>(at) : *static_cast<const int8_t*>(at);
  }
  for_lines(v.lines, range, [&](int64_t in, int64_t out, int64_t) {
    if (v.dtype == DType::kU8)
      v.kernels->widen_u8(static_cast<const uint8_t*>(operands[v.from]) + in, zero, to + out, v.lines.length);
    else
      v.kernels->widen_i8(static_cast<const int8_t*>(operands[v.from]) + in, zero, to + out, v.lines.length);
  });
}

void narrow(const void* arguments, void* const* operands, const TaskRange& range) {
  const Convert& v = *static_cast<const Convert*>(arguments);
  const float* from = static_cast<const float*>(operands[v.from]);
  for_lines(v.lines, range, [&](int64_t in, int64_t out, int64_t channel) {
    Requantize how = v.how;
    if (v.planes && how.multipliers) {
      how.multiplier = how.multipliers[channel];
      how.multipliers = nullptr;
      how.bias = how.biases ? how.biases[channel] : 0;
      how.biases = nullptr;
    }
    if (v.dtype == DType::kU8)
      v.kernels->requantize_u8(from + in, how, static_cast<uint8_t*>(operands[v.to]) + out, v.lines.length);
    else if (v.dtype == DType::kI8)
      v.kernels->requantize_i8(from + in, how, static_cast<int8_t*>(operands[v.to]) + out, v.lines.length);
    else
      v.kernels->to_i32(from + in, static_cast<int32_t*>(operands[v.to]) + out, v.lines.length);
  });
}

Status add_convert(BindScope& scope, const Convert& convert, bool widens) {
  MICA_TRY(Convert * args, scope.arguments<Convert>());
  *args = convert;
  args->kernels = &quant_kernels(scope.machine->isa);
  const Lines& l = args->lines;
  const int64_t tasks = l.outer[0] * l.outer[1] * l.outer[2];
  return scope.add({.kernel = widens ? widen : narrow,
                    .arguments = args,
                    .tasks = tasks,
                    .work = static_cast<double>(tasks * l.outer[3] * l.length) * 2,
                    .name = widens ? "widen_8bit" : "requantize_8bit"});
}

ImageView dense_planes(const ImageView& view) {
  ImageView dense = view;
  dense.pixel = 1;
  dense.row = view.extent[2];
  dense.depth = view.extent[1] * dense.row;
  dense.channel = view.extent[0] * dense.depth;
  dense.image = view.channels * dense.channel;
  return dense;
}

size_t bytes_of(const ImageView& v) { return static_cast<size_t>(v.images * v.channels * v.pixels()) * sizeof(float); }

}  // namespace

Result<ImageOperand> temporary_image(BindScope& scope, const TensorView& tensor) {
  ImageOperand made{-1, {}};
  if (!image_view(tensor, made.view)) return made;
  made.view = dense_channels_last(made.view);
  MICA_TRY(made.operand, scope.temporary(bytes_of(made.view)));
  return made;
}

Result<ImageOperand> read_widened(BindScope& scope, int index, const TensorView& tensor, ZeroPoint zero) {
  ImageView in;
  const ImageOperand none{-1, {}};
  if (!is_byte(tensor.dtype) || !image_view(tensor, in)) return none;
  if (!in.channels_last() && !innermost_pixels(in)) return none;
  MICA_TRY(const ImageOperand to, temporary_image(scope, tensor));
  Convert convert{.from = index, .to = to.operand, .dtype = tensor.dtype, .zero = zero};
  if (in.channels_last()) {
    convert.lines = pixel_lines(in, to.view);
    merge(convert.lines, 2);
    MICA_TRY_STATUS(add_convert(scope, convert, true));
    return to;
  }
  ImageOperand planes{0, dense_planes(in)};
  MICA_TRY(planes.operand, scope.temporary(bytes_of(planes.view)));
  convert.to = planes.operand;
  convert.lines = plane_lines(in, planes.view);
  merge(convert.lines, 2);
  MICA_TRY_STATUS(add_convert(scope, convert, true));
  MICA_TRY_STATUS(turn_image(scope, planes, to));
  return to;
}

bool can_narrow(const TensorView& out) {
  ImageView view;
  if (!is_byte(out.dtype) && out.dtype != DType::kI32) return false;
  return image_view(out, view) && (view.channels_last() || innermost_pixels(view));
}

Status write_narrowed(BindScope& scope, const ImageOperand& sums, const TensorView& out, const NarrowSpec& spec) {
  ImageView view;
  image_view(out, view);
  Convert convert{.from = sums.operand, .to = spec.index, .dtype = out.dtype};
  const bool is_signed = out.dtype == DType::kI8;
  convert.how = {.multipliers = spec.multipliers,
                 .multiplier = 1,
                 .biases = spec.biases,
                 .zero = spec.zero,
                 .low = is_signed ? -128 : 0,
                 .high = is_signed ? 127 : 255};
  if (view.channels_last()) {
    convert.lines = pixel_lines(sums.view, view);
    if (!spec.multipliers) merge(convert.lines, 2);
    return add_convert(scope, convert, false);
  }
  ImageOperand planes{0, dense_planes(view)};
  MICA_TRY(planes.operand, scope.temporary(bytes_of(planes.view)));
  MICA_TRY_STATUS(turn_image(scope, sums, planes));
  convert.from = planes.operand;
  convert.planes = true;
  convert.lines = plane_lines(planes.view, view);
  merge(convert.lines, 2);
  return add_convert(scope, convert, false);
}

}  // namespace mica
