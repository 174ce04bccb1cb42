#include "ops/image/resize.h"

#include <algorithm>
#include <cmath>
#include <cstring>

namespace mica {
namespace {

// --- Shapes ---

bool left_out(const InferScope& scope, int input) {
  if (!scope.has(input)) return true;
  const Shape& shape = scope.shape(input);
  return shape.rank == 1 && shape[0].is(0);
}
const TensorView* given(const RunScope& scope, int input) {
  return scope.has(input) && !scope.in(input).empty() ? &scope.in(input) : nullptr;
}

Result<Ints> axes_for(const Resize& attributes, int rank) {
  Ints axes = attributes.axes;
  if (axes.empty())
    for (int i = 0; i < rank; ++i) axes.push(i);
  MICA_TRY_STATUS(normalize_axes(axes, rank));
  return axes;
}

constexpr double kMaxSize = 1e15;

// floor(size · scale), in f32 as exporters and ONNX's own shape inference compute it.
Result<int64_t> scaled(int64_t size, float scale) {
  MICA_CHECK(scale > 0 && scale < 1e9f, kBadValue, "a scale of {}", scale);
  const float length = std::floor(static_cast<float>(size) * scale);
  MICA_CHECK(static_cast<double>(length) < kMaxSize, kBadShape, "{} elements scaled by {}", size, scale);
  return static_cast<int64_t>(length);
}

// The same for a symbolic dim, when the scale is a small fraction; else data-dependent.
Dim scaled(Dim size, float scale, DimTable& dims) {
  for (int64_t q = 1; q <= 16; ++q) {
    const double p = static_cast<double>(scale) * static_cast<double>(q), whole = std::round(p);
    if (whole >= 1 && std::fabs(p - whole) < 1e-6 * p)
      return dims.floor_div(dims.mul(size, static_cast<int64_t>(whole)), q);
  }
  return dims.fresh("resize");
}

Status infer_scaled(InferScope& scope, const Ints& axes, Shape& out) {
  const TensorView* scales = scope.in(2).constant;
  MICA_CHECK(!scales || scales->count() == static_cast<int64_t>(axes.size()), kBadShape,
             "resize has {} scales for {} axes", scales->count(), axes.size());
  for (size_t i = 0; i < axes.size(); ++i) {
    Dim& d = out[static_cast<int>(axes[i])];
    if (!scales) {
      d = scope.dims().fresh("resize");
      continue;
    }
    const auto scale = static_cast<float>(Elements(*scales).number(static_cast<int64_t>(i)));
    MICA_CHECK(scale > 0 && scale < 1e9f, kBadValue, "a scale of {}", scale);
    if (!d.is_fixed()) {
      d = scaled(d, scale, scope.dims());
      continue;
    }
    MICA_TRY(d, scaled(d.value(), scale));
  }
  return {};
}

Status infer_sized(InferScope& scope, const Ints& axes, Shape& out) {
  const auto& attributes = scope.attributes<Resize>();
  std::span<const Dim> sizes;
  const bool known = scope.known_dims(3, sizes);
  MICA_CHECK(!known || sizes.size() == axes.size(), kBadShape, "resize has {} sizes for {} axes", sizes.size(),
             axes.size());
  const TensorView* constant = scope.in(3).constant;
  if (attributes.policy != AspectPolicy::kStretch && constant && out.fixed()) {
    int64_t dims[kMaxRank];
    ResizeAxis plan[kMaxRank];
    for (int i = 0; i < out.rank; ++i) dims[i] = out[i].value();
    MICA_TRY_STATUS(resize_axes(attributes, std::span(dims, static_cast<size_t>(out.rank)), {.sizes = constant}, plan));
    for (int i = 0; i < out.rank; ++i) out[i] = plan[i].out;
    return {};
  }
  const bool stretch = known && attributes.policy == AspectPolicy::kStretch;
  for (size_t i = 0; i < axes.size(); ++i)
    out[static_cast<int>(axes[i])] = stretch ? sizes[i] : scope.dims().fresh("resize");
  return {};
}

Status infer(InferScope& scope) {
  const bool scales = !left_out(scope, 2), sizes = !left_out(scope, 3);
  MICA_CHECK(scales || sizes, kBadShape, "resize needs scales or sizes");
  Shape out = scope.shape(0);
  if (out.known()) {
    MICA_TRY(const Ints axes, axes_for(scope.attributes<Resize>(), out.rank));
    MICA_TRY_STATUS(sizes ? infer_sized(scope, axes, out) : infer_scaled(scope, axes, out));
  }
  scope.out(0, scope.dtype(0), out);
  return {};
}

Status set_sizes(const Resize& attributes, const Ints& axes, const TensorView& sizes, ResizeAxis* plan) {
  const Elements list(sizes);
  double keep = attributes.policy == AspectPolicy::kNotLarger ? HUGE_VAL : 0;
  for (size_t i = 0; i < axes.size(); ++i) {
    ResizeAxis& axis = plan[axes[i]];
    const double size = list.number(static_cast<int64_t>(i));
    MICA_CHECK(size >= 0 && size < kMaxSize, kBadValue, "a size of {}", size);
    axis.out = static_cast<int64_t>(size);
    axis.scale = axis.in ? size / static_cast<double>(axis.in) : 1;
    axis.by_size = axis.in > 0 && axis.out > 0;
    keep = attributes.policy == AspectPolicy::kNotLarger ? std::fmin(keep, axis.scale) : std::fmax(keep, axis.scale);
  }
  if (attributes.policy == AspectPolicy::kStretch) return {};
  for (int64_t a : axes) {
    plan[a].scale = keep;
    plan[a].by_size = false;
    const double size = std::floor(keep * static_cast<double>(plan[a].in) + 0.5);
    MICA_CHECK(size >= 0 && size < kMaxSize, kBadValue, "a size of {}", size);
    plan[a].out = static_cast<int64_t>(size);
  }
  return {};
}

// --- Samples ---

double source_position(const Resize& attributes, const ResizeAxis& axis, double x) {
  // The length before it was rounded down to whole elements.
  const double in = static_cast<double>(axis.in), out = static_cast<double>(axis.out), length = axis.scale * in;
  switch (attributes.coordinates) {
    case Coordinates::kHalfPixel: return axis.unscaled(x + 0.5) - 0.5;
    case Coordinates::kHalfPixelSymmetric: return in / 2 * (1 - out / length) + axis.unscaled(x + 0.5) - 0.5;
    case Coordinates::kPytorchHalfPixel: return length == 1 ? -0.5 : axis.unscaled(x + 0.5) - 0.5;
    case Coordinates::kAlignCorners: {
      const double last = (attributes.whole_length ? out : length) - 1;
      return last == 0 ? 0 : x * (in - 1) / last;
    }
    case Coordinates::kAsymmetric: return axis.unscaled(x);
    case Coordinates::kTfHalfPixelForNn: return axis.unscaled(x + 0.5);
    case Coordinates::kTfCropAndResize: break;
  }
  const double part = (axis.roi_end - axis.roi_begin) * (in - 1);
  return axis.roi_begin * (in - 1) + (length == 1 ? part / 2 : x * part / (length - 1));
}

// Keys' cubic convolution with parameter a.
double cubic_weight(double distance, double a) {
  const double x = std::fabs(distance);
  if (x <= 1) return ((a + 2) * x - (a + 3)) * x * x + 1;
  return x < 2 ? ((a * x - 5 * a) * x + 8 * a) * x - 4 * a : 0;
}

// Samples base + first … base + 1 - first have a weight. The filter widens by 1/scale when it shrinks without aliasing.
int64_t first_tap(const Resize& attributes, const ResizeAxis& axis) {
  const double reach = attributes.mode == ResizeMode::kCubic ? 2 : 1;
  const double scale = attributes.antialias ? std::fmin(axis.scale, 1.0) : 1.0;
  return static_cast<int64_t>(std::floor(-reach / scale)) + 1;
}

int64_t nearest_sample(NearestMode mode, double scale, int64_t base, double ratio) {
  if (ratio == 1) return base + 1;
  switch (mode) {
    case NearestMode::kRoundPreferFloor: return ratio <= 0.5 ? base : base + 1;
    case NearestMode::kRoundPreferCeil: return ratio < 0.5 ? base : base + 1;
    case NearestMode::kFloor: return base;
    case NearestMode::kCeil: return base + 1;
    case NearestMode::kSimple: break;
  }
  return scale < 1 ? base + 1 : base;
}

}  // namespace

Status resize_axes(const Resize& attributes, std::span<const int64_t> dims, const ResizeOperands& operands,
                   ResizeAxis* plan) {
  const int rank = static_cast<int>(dims.size());
  MICA_TRY(const Ints axes, axes_for(attributes, rank));
  const auto count = static_cast<int64_t>(axes.size());
  for (int i = 0; i < rank; ++i) plan[i] = {.in = dims[static_cast<size_t>(i)], .out = dims[static_cast<size_t>(i)]};
  MICA_CHECK(operands.scales || operands.sizes, kBadShape, "resize needs scales or sizes");
  const TensorView& list = operands.sizes ? *operands.sizes : *operands.scales;
  MICA_CHECK(list.rank == 1 && list.count() == count && list.dtype != DType::kString, kBadShape,
             "resize has {} scales or sizes in {} dimensions, expected {} in one", list.count(), list.rank, count);
  if (operands.sizes) {
    MICA_TRY_STATUS(set_sizes(attributes, axes, list, plan));
  } else {
    for (int64_t i = 0; i < count; ++i) {
      ResizeAxis& axis = plan[axes[static_cast<size_t>(i)]];
      const auto scale = static_cast<float>(Elements(list).number(i));
      MICA_TRY(axis.out, scaled(axis.in, scale));
      axis.scale = static_cast<double>(scale);
    }
  }
  if (attributes.coordinates == Coordinates::kTfCropAndResize) {
    MICA_CHECK(operands.roi && operands.roi->count() == 2 * count, kBadShape,
               "tf_crop_and_resize needs a region of {} numbers", 2 * count);
    for (int64_t i = 0; i < count; ++i) {
      plan[axes[static_cast<size_t>(i)]].roi_begin = Elements(*operands.roi).number(i);
      plan[axes[static_cast<size_t>(i)]].roi_end = Elements(*operands.roi).number(count + i);
    }
  }
  for (int i = 0; i < rank; ++i) {
    MICA_CHECK(plan[i].in > 0 || plan[i].out == 0, kBadShape, "an axis without elements cannot be resized to {}",
               plan[i].out);
    // A filter is as wide as 4 / scale: what shrinks more than this is no picture.
    MICA_CHECK(plan[i].out == 0 || plan[i].scale > 1e-7, kBadValue, "a scale of {}", plan[i].scale);
  }
  return {};
}

int64_t resize_taps(const Resize& attributes, const ResizeAxis& axis) {
  return attributes.mode == ResizeMode::kNearest ? 1 : 2 - 2 * first_tap(attributes, axis);
}

bool resize_sample(const Resize& attributes, const ResizeAxis& axis, int64_t i, int64_t* index, double* weight) {
  const double x = source_position(attributes, axis, static_cast<double>(i)), last = static_cast<double>(axis.in - 1);
  if (attributes.coordinates == Coordinates::kTfCropAndResize && !(x >= 0 && x <= last)) return false;
  // The sample on the left is strictly left of x: its distance is in (0, 1].
  const double left = std::isnan(x) ? 0 : std::ceil(std::clamp(x, -4.0, last + 4)) - 1,
               ratio = std::isnan(x) ? 1 : std::clamp(x - left, 0.0, 1.0);
  const auto base = static_cast<int64_t>(left);
  const auto inside = [&](int64_t k) { return std::clamp<int64_t>(k, 0, axis.in - 1); };
  if (attributes.mode == ResizeMode::kNearest) {
    index[0] = inside(nearest_sample(attributes.nearest, axis.scale, base, ratio));
    weight[0] = 1;
    return true;
  }
  const int64_t first = first_tap(attributes, axis), taps = 2 - 2 * first;
  const double scale = attributes.antialias ? std::fmin(axis.scale, 1.0) : 1.0;
  double sum = 0;
  for (int64_t k = 0; k < taps; ++k) {
    const double distance = (static_cast<double>(first + k) - ratio) * scale;
    const bool outside = base + first + k < 0 || base + first + k >= axis.in;
    index[k] = inside(base + first + k);
    weight[k] = attributes.mode == ResizeMode::kCubic ? cubic_weight(distance, static_cast<double>(attributes.cubic_a))
                                                      : std::fmax(0.0, 1 - std::fabs(distance));
    if (outside && attributes.exclude_outside) weight[k] = 0;
    sum += weight[k];
  }
  if (attributes.antialias || attributes.exclude_outside)
    for (int64_t k = 0; k < taps; ++k) weight[k] /= sum;
  return true;
}

namespace {

// One table per axis: taps indices and weights per output sample; `outside` marks samples to extrapolate.
struct Samples {
  int64_t taps = 0;
  int64_t* index = nullptr;
  double* weight = nullptr;
  bool* outside = nullptr;
};

Result<Samples> make_samples(RunScope& scope, const ResizeAxis& axis) {
  const auto& attributes = scope.attributes<Resize>();
  Samples s;
  s.taps = resize_taps(attributes, axis);
  int64_t count = 0;
  MICA_CHECK(!__builtin_mul_overflow(s.taps, axis.out, &count) && count < (int64_t{1} << 40), kBadShape,
             "a filter of {} samples", s.taps);
  MICA_TRY(void* index, scope.allocate(static_cast<size_t>(count) * sizeof(int64_t)));
  MICA_TRY(void* weight, scope.allocate(static_cast<size_t>(count) * sizeof(double)));
  MICA_TRY(void* outside, scope.allocate(static_cast<size_t>(axis.out)));
  s.index = static_cast<int64_t*>(index);
  s.weight = static_cast<double*>(weight);
  s.outside = static_cast<bool*>(outside);
  for (int64_t i = 0; i < axis.out; ++i)
    s.outside[i] = !resize_sample(attributes, axis, i, s.index + i * s.taps, s.weight + i * s.taps);
  return s;
}

void store_rounded(const Elements& out, DType dtype, int64_t i, double value) {
  out.set_number(i, is_integer(dtype) ? std::nearbyint(value) : value);
}

Status resize_nearest(RunScope& scope, const ResizeAxis* plan) {
  MICA_TRY(const TensorView in, wide_input(scope, 0));
  MICA_TRY(const TensorView out, wide_output(scope, 0));
  Samples samples[kMaxRank];
  for (int i = 0; i < in.rank; ++i) {
    MICA_TRY(samples[i], make_samples(scope, plan[i]));
  }
  const auto bytes = static_cast<size_t>(element_bytes(in.dtype));
  const double extrapolation = static_cast<double>(scope.attributes<Resize>().extrapolation);
  int64_t at[kMaxRank] = {};
  if (!out.empty()) do {
      int64_t from[kMaxRank];
      bool outside = false;
      for (int i = 0; i < in.rank; ++i) {
        outside = outside || samples[i].outside[at[i]];
        from[i] = outside ? 0 : samples[i].index[at[i]];
      }
      if (outside)
        store_number(out.dtype, element_at(out, at), extrapolation);
      else
        std::memcpy(element_at(out, at), element_at(in, from), bytes);
    } while (next_index(at, out.shape()));
  finish_output(scope, 0, out);
  return {};
}

// One axis of a dense [outer, in, inner] block of doubles.
struct AxisPass {
  int64_t outer, in, out, inner;
  double extrapolation;
};
void resize_axis(const double* from, double* to, const Samples& s, const AxisPass& pass) {
  const int64_t inner = pass.inner;
  for (int64_t o = 0; o < pass.outer; ++o)
    for (int64_t i = 0; i < pass.out; ++i) {
      double* row = to + (o * pass.out + i) * inner;
      std::fill(row, row + inner, s.outside[i] ? pass.extrapolation : 0.0);
      for (int64_t k = 0; k < s.taps && !s.outside[i]; ++k) {
        const double weight = s.weight[i * s.taps + k];
        const double* source = from + (o * pass.in + s.index[i * s.taps + k]) * inner;
        for (int64_t j = 0; j < inner; ++j) row[j] += weight * source[j];
      }
    }
}

Status resize_weighted(RunScope& scope, const ResizeAxis* plan) {
  const TensorView &in = scope.in(0), &out = scope.out(0);
  if (out.empty()) return {};
  MICA_CHECK(in.dtype != DType::kString && kind_of(in.dtype) != NumberKind::kComplex, kBadType, "interpolation of {}",
             name_of(in.dtype));
  int64_t dims[kMaxRank];
  std::copy_n(in.dims.begin(), in.rank, dims);
  int64_t count = in.count();
  MICA_TRY(void* memory, scope.allocate(static_cast<size_t>(count) * sizeof(double)));
  auto* values = static_cast<double*>(memory);
  for (int64_t i = 0; i < count; ++i) values[i] = Elements(in).number(i);
  for (int a = 0; a < in.rank; ++a) {
    if (plan[a].same(scope.attributes<Resize>())) continue;
    int64_t outer = 1, inner = 1;
    for (int i = 0; i < in.rank; ++i) (i < a ? outer : inner) *= i == a ? 1 : dims[i];
    MICA_CHECK(!__builtin_mul_overflow(outer * inner, plan[a].out, &count), kBadShape, "a result of resize overflows");
    MICA_TRY(void* next, scope.allocate(static_cast<size_t>(count) * sizeof(double)));
    MICA_TRY(const Samples samples, make_samples(scope, plan[a]));
    MICA_TRY_STATUS(scope.check_stop());
    resize_axis(values, static_cast<double*>(next), samples,
                {outer, plan[a].in, plan[a].out, inner, static_cast<double>(scope.attributes<Resize>().extrapolation)});
    dims[a] = plan[a].out;
    values = static_cast<double*>(next);
  }
  for (int64_t i = 0; i < count; ++i) store_rounded(Elements(out), out.dtype, i, values[i]);
  return {};
}

Status reference(RunScope& scope) {
  const TensorView& in = scope.in(0);
  ResizeAxis plan[kMaxRank];
  MICA_TRY_STATUS(
      resize_axes(scope.attributes<Resize>(), in.shape(), {given(scope, 1), given(scope, 2), given(scope, 3)}, plan));
  int64_t dims[kMaxRank];
  for (int i = 0; i < in.rank; ++i) dims[i] = plan[i].out;
  MICA_TRY_STATUS(scope.allocate_output(0, std::span<const int64_t>(dims, static_cast<size_t>(in.rank))));
  return scope.attributes<Resize>().mode == ResizeMode::kNearest ? resize_nearest(scope, plan)
                                                                 : resize_weighted(scope, plan);
}

}  // namespace

MICA_OP(resize) = {.name = "resize",
                   .doc = "Samples a tensor at another size: nearest, linear or cubic, in any coordinate convention",
                   .inputs = {1, 4},
                   .attributes = attr_class<Resize>(),
                   .infer = infer,
                   .reference = reference,
                   .layout = LayoutRule::kChannelsLast};

}  // namespace mica
