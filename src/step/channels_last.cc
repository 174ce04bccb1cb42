#include "step/channels_last.h"

#include "kernels/gemm/gemm.h"

namespace mica {
namespace {

// Turns lines of pixels of all channels: from channel-major to pixel-major or back.
struct Turn {
  const GemmKernels* kernels;
  ImageView planes;  // pixels adjacent
  ImageView pixels;  // channels adjacent
  int planes_operand, pixels_operand;
  bool to_pixels;
  int64_t line, lines, chunk, chunks;  // pixels in a row without gaps, such rows in an image, pixels of a task
};

void turn(const void* arguments, void* const* operands, const TaskRange& range) {
  const Turn& t = *static_cast<const Turn*>(arguments);
  float* planes = static_cast<float*>(operands[t.planes_operand]);
  float* pixels = static_cast<float*>(operands[t.pixels_operand]);
  for (int64_t task = range.begin; task < range.end; ++task) {
    const int64_t chunk = task % t.chunks, line = task / t.chunks % t.lines, image = task / t.chunks / t.lines;
    const int64_t first = chunk * t.chunk, count = std::min(t.chunk, t.line - first);
    const int64_t z = t.lines == 1 ? 0 : line / t.planes.extent[1], y = t.lines == 1 ? 0 : line % t.planes.extent[1];
    float* plane = planes + image * t.planes.image + z * t.planes.depth + y * t.planes.row + first;
    float* pixel = pixels + image * t.pixels.image + z * t.pixels.depth + y * t.pixels.row + first * t.pixels.pixel;
    if (t.to_pixels)
      t.kernels->transpose(plane, t.planes.channel, pixel, t.pixels.pixel, t.planes.channels, count);
    else
      t.kernels->transpose(pixel, t.pixels.pixel, plane, t.planes.channel, count, t.planes.channels);
  }
}

bool adjacent_pixels(const ImageView& v) { return v.pixel == 1 || v.extent[2] == 1; }
bool no_gaps(const ImageView& v) {
  return (v.extent[1] == 1 || v.row == v.extent[2] * v.pixel) &&
         (v.extent[0] == 1 || v.depth == v.extent[1] * v.extent[2] * v.pixel);
}

Status add_turn(BindScope& scope, Turn t) {
  t.kernels = &gemm_kernels(scope.machine->isa);
  const bool whole = no_gaps(t.planes) && no_gaps(t.pixels);
  t.line = whole ? t.planes.pixels() : t.planes.extent[2];
  t.lines = whole ? 1 : t.planes.extent[0] * t.planes.extent[1];
  constexpr int64_t kChunk = 512;
  t.chunk = std::max<int64_t>(1, std::min(t.line, kChunk));
  t.chunks = (t.line + t.chunk - 1) / t.chunk;
  MICA_TRY(Turn * args, scope.arguments<Turn>());
  *args = t;
  const int64_t elements = t.planes.images * t.planes.channels * t.planes.pixels();
  return scope.add({.kernel = turn,
                    .arguments = args,
                    .tasks = t.planes.images * t.lines * t.chunks,
                    .work = static_cast<double>(elements) * 4,
                    .name = t.to_pixels ? "channels_last_f32" : "channels_first_f32"});
}

Result<int> temporary_like(BindScope& scope, const ImageView& view) {
  return scope.temporary(static_cast<size_t>(view.images * view.channels * view.pixels()) * sizeof(float));
}

}  // namespace

bool image_view(const TensorView& tensor, ImageView& view) {
  if (tensor.rank < 2 || tensor.rank > 5 || is_sub_byte(tensor.dtype)) return false;
  const int64_t bytes = element_bytes(tensor.dtype);
  for (int i = 0; i < tensor.rank; ++i)
    if (tensor.stride(i) % bytes != 0) return false;
  view = {};
  view.images = tensor.dim(0);
  view.channels = tensor.dim(1);
  view.image = tensor.stride(0) / bytes;
  view.channel = tensor.stride(1) / bytes;
  int64_t* const strides[] = {&view.depth, &view.row, &view.pixel};
  const int spatial = tensor.rank - 2;
  for (int i = 0; i < spatial; ++i) {
    view.extent[3 - spatial + i] = tensor.dim(i + 2);
    *strides[3 - spatial + i] = tensor.stride(i + 2) / bytes;
  }
  // Axes that are not there, and those of one element, get the step of a dense tensor.
  if (view.extent[2] == 1) view.pixel = view.channels_last() ? view.channels : 1;
  if (view.pixels() == 1 && view.images > 1 && view.channels_last())
    view.pixel = view.image;  // images are the pixels of a line
  if (view.extent[1] == 1) view.row = view.extent[2] * view.pixel;
  if (view.extent[0] == 1) view.depth = view.extent[1] * view.row;
  if (view.images == 1) view.image = view.extent[0] * view.depth;
  return true;
}

ImageView dense_channels_last(const ImageView& view) {
  ImageView dense = view;
  dense.channel = 1;
  dense.pixel = view.channels;
  dense.row = view.extent[2] * dense.pixel;
  dense.depth = view.extent[1] * dense.row;
  dense.image = view.extent[0] * dense.depth;
  return dense;
}

Result<ImageOperand> read_channels_last(BindScope& scope, int index, const TensorView& tensor) {
  ImageOperand from{index, {}};
  if (!image_view(tensor, from.view)) return ImageOperand{-1, {}};
  if (from.view.channels_last()) return from;
  if (!adjacent_pixels(from.view)) return ImageOperand{-1, {}};
  ImageOperand to{0, dense_channels_last(from.view)};
  MICA_TRY(to.operand, temporary_like(scope, to.view));
  MICA_TRY_STATUS(add_turn(scope, {.planes = from.view,
                                   .pixels = to.view,
                                   .planes_operand = from.operand,
                                   .pixels_operand = to.operand,
                                   .to_pixels = true}));
  return to;
}

Result<ImageOperand> write_channels_last(BindScope& scope, int index, const TensorView& tensor) {
  ImageOperand to{index, {}};
  if (!image_view(tensor, to.view)) return ImageOperand{-1, {}};
  if (to.view.channels_last()) return to;
  if (!adjacent_pixels(to.view)) return ImageOperand{-1, {}};
  to.view = dense_channels_last(to.view);
  MICA_TRY(to.operand, temporary_like(scope, to.view));
  return to;
}

Status finish_channels_last(BindScope& scope, int index, const TensorView& tensor, const ImageOperand& written) {
  if (written.operand == index) return {};
  ImageView planes;
  image_view(tensor, planes);
  return add_turn(
      scope, {.planes = planes, .pixels = written.view, .planes_operand = index, .pixels_operand = written.operand});
}

Status turn_image(BindScope& scope, const ImageOperand& from, const ImageOperand& to) {
  const bool to_pixels = !from.view.channels_last();
  const ImageOperand &planes = to_pixels ? from : to, &pixels = to_pixels ? to : from;
  return add_turn(scope, {.planes = planes.view,
                          .pixels = pixels.view,
                          .planes_operand = planes.operand,
                          .pixels_operand = pixels.operand,
                          .to_pixels = to_pixels});
}

}  // namespace mica
