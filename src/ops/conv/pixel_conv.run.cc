#include "ops/conv/pixel_conv.h"

#include "ops/conv/conv_bind.h"

namespace mica {
namespace {

bool rows(const BindScope& scope, RowWindow& window) {
  const TensorView &x = scope.input(0).view, &w = scope.input(1).view;
  if (x.rank < 3 || x.rank > 4 || !is_byte(x.dtype) || !scope.input(1).constant) return false;
  const auto sizes = conv::sizes_of(scope.attributes<PixelConv>().conv, x, w);
  if (!sizes.ok()) return false;
  window = row_window(sizes->window);
  return true;
}

MICA_AT_BIND Result<bool> bind(BindScope& scope) {
  const auto& attributes = scope.attributes<PixelConv>();
  const TensorView& x = scope.input(0).view;
  ImageView in;
  if (!is_byte(x.dtype) || !image_view(x, in)) return false;
  MICA_TRY(const conv::BegunStep begun, conv::begin_step(scope, attributes.conv));
  if (!begun.step) return false;
  ConvArgs& args = begun.step->args;
  args.problem.pixels = x.dtype == DType::kI8 ? PixelType::kI8 : PixelType::kU8;
  args.problem.in_view = {in.image, in.depth, in.row, in.pixel, in.channel};
  for (int axis = 0; axis < 3; ++axis)  // nothing is skipped for a single output, whatever the step behind it
    if (args.problem.out[axis] == 1) args.problem.stride[axis] = 1;
  if (!reads_pixels(args.problem)) return false;
  for (size_t i = 0; i < static_cast<size_t>(args.problem.in_channels); ++i) {
    args.scale[i] = attributes.scale.get(i, 1);
    args.shift[i] = attributes.shift.get(i, 0);
  }
  args.choice = choose_conv(args.problem, ConvAlgorithm::kImplicit, begun.step->isa, begun.step->limits);
  begun.step->chosen_for = args.problem;
  MICA_TRY_STATUS(conv::pack_weights(scope, *begun.step));
  MICA_TRY_STATUS(conv::add_step(scope, *begun.step, "conv_f32_pixels"));
  MICA_TRY_STATUS(finish_channels_last(scope, begun.y, scope.output(0).view, begun.to));
  return true;
}

}  // namespace

MICA_RUN(pixel_conv) = {.bind = bind, .rows = rows};

}  // namespace mica
