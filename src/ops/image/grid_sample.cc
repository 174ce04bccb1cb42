#include "ops/image/grid_sample.h"

#include <algorithm>
#include <cmath>

#include "types/operand.h"

namespace mica {
namespace {

// Inputs: [N, C, D1, …, Dn] and a grid [N, O1, …, On, n] of places in [-1, 1], the last axis's coordinate first.
Status infer(InferScope& scope) {
  MICA_CHECK(kind_of(scope.dtype(0)) != NumberKind::kComplex && scope.dtype(0) != DType::kString, kBadType,
             "grid_sample of {}: it weighs real numbers", name_of(scope.dtype(0)));
  MICA_TRY_STATUS(require_float(scope, 1));
  MICA_TRY_STATUS(require_rank(scope, 0, 3, kMaxRank));
  const Shape &in = scope.shape(0), &grid = scope.shape(1);
  if (!in.known() || !grid.known()) {
    scope.out(0, scope.dtype(0), Shape());
    return {};
  }
  MICA_CHECK(grid.rank == in.rank, kBadRank, "grid_sample needs a grid of the input's rank {}, not {}", in.rank,
             grid.rank);
  MICA_CHECK(!grid.back().is_fixed() || grid.back().value() == in.rank - 2, kBadShape,
             "the grid has {} coordinates, expected {}", grid.back().value(), in.rank - 2);
  Shape out{in[0], in[1]};
  MICA_TRY(out[0], same_dim(in[0], grid[0], "batches of input and grid"));
  for (int i = 1; i + 1 < grid.rank; ++i) out.push(grid[i]);
  scope.out(0, scope.dtype(0), out);
  return {};
}

// Folds x back into [low, high] at its ends.
float reflect(float x, float low, float high) {
  const float range = high - low;
  if (!(range > 0)) return low;
  const float beyond = x < low ? low - x : x > high ? x - high : 0;
  if (beyond == 0) return x;
  const float turns = std::floor(beyond / range), rest = beyond - turns * range;
  const bool even = std::fmod(turns, 2.0f) == 0;
  return (x < low) == even ? low + rest : high - rest;
}

struct Axis {
  int64_t size;
  float low, high;
};
Axis axis_of(const GridSample& attributes, int64_t size) {
  return attributes.align_corners ? Axis{size, 0, static_cast<float>(size - 1)}
                                  : Axis{size, -0.5f, static_cast<float>(size) - 0.5f};
}

// The element at an integer place of one axis; -1 for a zero.
int64_t element_place(const Axis& axis, GridPadding padding, int64_t i) {
  if (i >= 0 && i < axis.size) return i;
  if (padding == GridPadding::kZeros) return -1;
  if (padding == GridPadding::kBorder) return i < 0 ? 0 : axis.size - 1;
  return std::clamp<int64_t>(static_cast<int64_t>(reflect(static_cast<float>(i), axis.low, axis.high)), 0,
                             axis.size - 1);
}

// Up to four places and weights along one axis for coordinate g in [-1, 1].
int axis_samples(const GridSample& attributes, const Axis& axis, float g, int64_t* place, double* weight) {
  const auto size = static_cast<float>(axis.size);
  float x = attributes.align_corners ? (g + 1) / 2 * (size - 1) : ((g + 1) * size - 1) / 2;
  if (attributes.mode == GridMode::kNearest) x = std::nearbyint(x);
  if (attributes.padding == GridPadding::kBorder && (x < axis.low || x > axis.high)) x = std::clamp(x, 0.0f, size - 1);
  if (attributes.padding == GridPadding::kReflection && std::isfinite(x)) x = reflect(x, axis.low, axis.high);
  if (!(std::fabs(x) < 1e9f)) x = -1e9f;  // NaN and infinity are outside
  if (attributes.mode == GridMode::kNearest) {
    place[0] = element_place(axis, attributes.padding, static_cast<int64_t>(x));
    weight[0] = 1;
    return 1;
  }
  const float base = std::floor(x);
  const double t = static_cast<double>(x - base);
  const auto first = static_cast<int64_t>(base) - (attributes.mode == GridMode::kCubic ? 1 : 0);
  const int taps = attributes.mode == GridMode::kCubic ? 4 : 2;
  for (int k = 0; k < taps; ++k) place[k] = element_place(axis, attributes.padding, first + k);
  if (taps == 2) {
    weight[0] = 1 - t;
    weight[1] = t;
    return taps;
  }
  constexpr double a = -0.75;  // of Keys' cubic convolution
  for (int k = 0; k < 4; ++k) {
    const double d = std::fabs(t + 1 - k);
    weight[k] = d <= 1 ? ((a + 2) * d - (a + 3)) * d * d + 1 : ((a * d - 5 * a) * d + 8 * a) * d - 4 * a;
  }
  return taps;
}

struct Samples {
  int count[kMaxRank];
  int64_t place[kMaxRank][4];
  double weight[kMaxRank][4];
};

// Σ weight · element over the product of the axes' samples; `from` is one channel.
double sample(const TensorView& in, const char* from, const Samples& s, int axes) {
  int at[kMaxRank] = {};
  double sum = 0;
  for (;;) {
    const char* element = from;
    double weight = 1;
    for (int i = 0; i < axes; ++i) {
      const int64_t place = s.place[i][at[i]];
      weight *= s.weight[i][at[i]];
      element = place < 0 || !element ? nullptr : element + place * in.stride(2 + i);
    }
    if (element) sum += weight * load_number(in.dtype, element);
    int i = axes - 1;
    while (i >= 0 && ++at[i] == s.count[i]) at[i--] = 0;
    if (i < 0) return sum;
  }
}

Status check_shapes(const TensorView& in, const TensorView& grid) {
  MICA_CHECK(in.rank >= 3 && grid.rank == in.rank, kBadRank,
             "grid_sample with an input of rank {} and a grid of rank {}", in.rank, grid.rank);
  MICA_CHECK(grid.dim(0) == in.dim(0) && grid.dim(grid.rank - 1) == in.rank - 2, kBadShape,
             "the grid does not fit the input");
  MICA_CHECK(is_float(in.dtype) || is_integer(in.dtype) || in.dtype == DType::kBool, kBadType, "grid_sample of {}",
             name_of(in.dtype));
  MICA_CHECK(!is_sub_byte(in.dtype) && !is_sub_byte(grid.dtype), kBadType, "grid_sample of {}", name_of(in.dtype));
  return {};
}

Status reference(RunScope& scope) {
  const auto& attributes = scope.attributes<GridSample>();
  const TensorView &in = scope.in(0), &grid = scope.in(1);
  MICA_TRY_STATUS(check_shapes(in, grid));
  const int axes = in.rank - 2;
  int64_t dims[kMaxRank] = {in.dim(0), in.dim(1)};
  for (int i = 0; i < axes; ++i) dims[2 + i] = grid.dim(1 + i);
  MICA_TRY_STATUS(scope.allocate_output(0, std::span<const int64_t>(dims, static_cast<size_t>(in.rank))));
  const TensorView& out = scope.out(0);
  if (out.empty()) return {};
  Axis list[kMaxRank];
  for (int i = 0; i < axes; ++i) {
    const int64_t size = in.dim(2 + i);
    MICA_CHECK(size > 0, kBadShape, "grid_sample of an empty input");
    list[i] = axis_of(attributes, size);
  }
  int64_t place[kMaxRank] = {};  // in the grid: batch, output place
  do {
    Samples samples;
    for (int i = 0; i < axes; ++i) {
      place[grid.rank - 1] = axes - 1 - i;
      const auto g = static_cast<float>(load_number(grid.dtype, element_at(grid, place)));
      samples.count[i] = axis_samples(attributes, list[i], g, samples.place[i], samples.weight[i]);
    }
    place[grid.rank - 1] = 0;
    int64_t to[kMaxRank] = {place[0], 0};
    for (int i = 0; i < axes; ++i) to[2 + i] = place[1 + i];
    for (int64_t c = 0; c < in.dim(1); ++c) {
      to[1] = c;
      const char* from = static_cast<const char*>(in.data) + place[0] * in.stride(0) + c * in.stride(1);
      store_number(out.dtype, element_at(out, to), sample(in, from, samples, axes));
    }
  } while (next_index(place, grid.shape().first(static_cast<size_t>(grid.rank - 1))));
  return {};
}

}  // namespace

MICA_OP(grid_sample) = {.name = "grid_sample",
                        .doc = "Samples the input at the places of a grid",
                        .inputs = {2, 2},
                        .attributes = attr_class<GridSample>(),
                        .infer = infer,
                        .reference = reference,
                        .layout = LayoutRule::kChannelsLast};

}  // namespace mica
