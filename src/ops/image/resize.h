// Resize: what an axis's output samples take from its input, shared by the reference and by the kernels' tables.
#pragma once
#include "types/operand.h"

namespace mica {

enum class ResizeMode : uint8_t { kNearest, kLinear, kCubic };
inline constexpr std::string_view kResizeModeNames[] = {"nearest", "linear", "cubic"};
constexpr std::span<const std::string_view> names_of(ResizeMode) { return kResizeModeNames; }

enum class Coordinates : uint8_t {
  kHalfPixel,
  kHalfPixelSymmetric,
  kPytorchHalfPixel,
  kAlignCorners,
  kAsymmetric,
  kTfCropAndResize,
  kTfHalfPixelForNn
};
inline constexpr std::string_view kCoordinatesNames[] = {
    "half_pixel", "half_pixel_symmetric", "pytorch_half_pixel",  "align_corners",
    "asymmetric", "tf_crop_and_resize",   "tf_half_pixel_for_nn"};
constexpr std::span<const std::string_view> names_of(Coordinates) { return kCoordinatesNames; }

// kSimple: down to the left when growing, up to the right when shrinking (ONNX's Resize of opset 10).
enum class NearestMode : uint8_t { kRoundPreferFloor, kRoundPreferCeil, kFloor, kCeil, kSimple };
inline constexpr std::string_view kNearestModeNames[] = {"round_prefer_floor", "round_prefer_ceil", "floor", "ceil",
                                                         "simple"};
constexpr std::span<const std::string_view> names_of(NearestMode) { return kNearestModeNames; }

enum class AspectPolicy : uint8_t { kStretch, kNotLarger, kNotSmaller };
inline constexpr std::string_view kAspectPolicyNames[] = {"stretch", "not_larger", "not_smaller"};
constexpr std::span<const std::string_view> names_of(AspectPolicy) { return kAspectPolicyNames; }

// Inputs: the tensor, a region of interest, scales, sizes; either scales or sizes (an empty one counts as left out).
struct Resize {
  ResizeMode mode = ResizeMode::kNearest;
  Coordinates coordinates = Coordinates::kHalfPixel;
  NearestMode nearest = NearestMode::kRoundPreferFloor;
  AspectPolicy policy = AspectPolicy::kStretch;
  float cubic_a = -0.75f;
  float extrapolation = 0;
  bool exclude_outside = false, antialias = false, whole_length = false;
  Ints axes;
  template <class V>
  void visit(V&& v) {
    v("mode", mode, "nearest sample, linear or cubic interpolation");
    v("coordinates", coordinates, "where output samples lie in the input");
    v("nearest", nearest, "which sample is the nearest");
    v("policy", policy, "whether sizes keep the aspect ratio");
    v("cubic_a", cubic_a, "the parameter of the cubic convolution");
    v("extrapolation", extrapolation, "the value outside of the input, for tf_crop_and_resize");
    v("exclude_outside", exclude_outside, "samples outside of the input have no weight, else the edge's value");
    v("antialias", antialias, "widen the filter when shrinking");
    v("whole_length", whole_length, "align_corners: the last sample is the result's, else where scale · size ends");
    v("axes", axes, "the axes that roi, scales and sizes are for; empty: all");
  }
};

struct ResizeAxis {
  int64_t in = 1, out = 1;
  double scale = 1, roi_begin = 0, roi_end = 1;
  bool by_size = false;  // the scale is out / in, rounded
  // A distance of the result in the input: exact where it is a whole number and sizes are what is given.
  double unscaled(double distance) const {
    return by_size ? distance * static_cast<double>(in) / static_cast<double>(out) : distance / scale;
  }
  bool same(const Resize& attributes) const {
    return in == out && scale == 1 &&
           (attributes.coordinates != Coordinates::kTfCropAndResize || (roi_begin == 0 && roi_end == 1));
  }
};

// The axes of a tensor of shape `dims`; the views are null when left out. Errors: kBadShape, kBadValue, kBadAttribute.
struct ResizeOperands {
  const TensorView *roi = nullptr, *scales = nullptr, *sizes = nullptr;
};
Status resize_axes(const Resize& attributes, std::span<const int64_t> dims, const ResizeOperands& operands,
                   ResizeAxis* axes);

// How many input samples an output sample takes.
int64_t resize_taps(const Resize& attributes, const ResizeAxis& axis);
// Output sample i: `taps` indices (inside of the input) and weights. False when it lies outside and gets the
// extrapolation value.
bool resize_sample(const Resize& attributes, const ResizeAxis& axis, int64_t i, int64_t* index, double* weight);

}  // namespace mica
