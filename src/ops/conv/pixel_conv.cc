#include "ops/conv/pixel_conv.h"

#include "types/dense.h"

namespace mica {
namespace {

Status infer(InferScope& scope) {
  const auto& a = scope.attributes<PixelConv>();
  MICA_TRY_STATUS(require_tensor(scope, 0));
  MICA_CHECK(is_byte(scope.dtype(0)), kBadType, "pixels must be u8 or i8, not {}", name_of(scope.dtype(0)));
  MICA_TRY_STATUS(require_tensor(scope, 1));
  MICA_CHECK(scope.dtype(1) == DType::kF32, kBadType, "weights must be f32, not {}", name_of(scope.dtype(1)));
  MICA_TRY(const Shape shape, conv::output_shape(scope, a.conv, 0, 1));
  const Shape& x = scope.shape(0);
  const bool any_count = !x.known() || !x[1].is_fixed();
  MICA_CHECK(a.scale.size() == a.shift.size() && (any_count || x[1].is(static_cast<int64_t>(a.scale.size()))),
             kBadAttribute, "{} scales and {} shifts are not one for each channel", a.scale.size(), a.shift.size());
  MICA_TRY_STATUS(conv::require_bias(scope, 1, shape));
  scope.out(0, DType::kF32, shape);
  return {};
}

// Padding is zero in the numbers that pixels become.
Status reference(RunScope& scope) {
  const auto& a = scope.attributes<PixelConv>();
  MICA_TRY(const conv::Sizes s, conv::sizes_of(a.conv, scope.in(0), scope.in(1)));
  MICA_TRY_STATUS(conv::allocate(scope, s, scope.in(0).rank));
  MICA_TRY(const double* pixels, dense_numbers(scope, scope.in(0)));
  const int64_t plane = s.window.pixels();
  MICA_TRY(double* x, zero_numbers(scope, scope.in(0).count()));
  for (int64_t i = 0, n = scope.in(0).count(); i < n; ++i) {
    const auto channel = static_cast<size_t>(i / plane % (s.groups * s.group_in));
    x[i] = pixels[i] * a.scale.get(channel, 1) + a.shift.get(channel, 0);
  }
  return conv::convolve(scope, s, x);
}

}  // namespace

MICA_OP(pixel_conv) = {.name = "pixel_conv",
                       .doc =
                           "convolution of pixels · scale + shift, a number of each for each channel, with w, plus a "
                           "bias; the padding is 0",
                       .inputs = {2, 3},
                       .attributes = attr_class<PixelConv>(),
                       .infer = infer,
                       .reference = reference,
                       .flops = conv::flops,
                       .layout = LayoutRule::kChannelsLast};

}  // namespace mica
