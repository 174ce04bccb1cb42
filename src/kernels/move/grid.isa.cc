#include "kernels/move/grid.h"

#include "simd/simd.h"

namespace mica::MICA_ISA {
namespace {

constexpr int kMostEach = 4;  // taps along one axis

// The ends between which coordinates of one axis are folded: the middles or the outer edges of its last elements.
struct Ends {
  float low, high;
};
MICA_INLINE Ends ends_of(const GridProblem& p, int axis) {
  const auto size = static_cast<float>(p.size[axis]);
  return p.align_corners ? Ends{0, size - 1} : Ends{-0.5f, size - 0.5f};
}

MICA_INLINE F32 reflect(F32 x, Ends ends) {
  const float range = ends.high - ends.low;
  const F32 low = set1(ends.low), high = set1(ends.high), side = set1(range);
  if (!(range > 0)) return low;
  const Mask below = lt(x, low);
  const F32 beyond = select(below, sub(low, x), sub(x, high));
  const F32 turns = floor(div(beyond, side)), rest = sub(beyond, mul(turns, side));
  const Mask even = eq(turns, mul(set1(2.0f), floor(mul(turns, set1(0.5f)))));
  const Mask from_low = mask_or(mask_and(below, even), mask_not(mask_or(below, even)));
  return select(gt(beyond, zero()), select(from_low, add(low, rest), sub(high, rest)), x);
}

MICA_INLINE F32 clamp(F32 x, float low, float high) {  // NaN stays
  x = select(lt(x, set1(low)), set1(low), x);
  return select(gt(x, set1(high)), set1(high), x);
}

// What kLanes points take along one axis. A place that is not `inside` stands for a zero and is 0.
struct AxisTaps {
  I32 place[kMostEach];
  Mask inside[kMostEach];
  F32 weight[kMostEach];
};

MICA_INLINE void put_place(const GridProblem& p, int axis, I32 i, I32& place, Mask& inside) {
  const I32 last = set1(p.size[axis] - 1);
  if (p.padding == GridPadding::kReflection) i = to_i32_trunc(reflect(to_f32(i), ends_of(p, axis)));
  place = max(zero_i32(), min(i, last));
  inside = p.padding == GridPadding::kZeros ? eq(place, i) : first_lanes(kLanes);
}

// The coordinate in elements, after what padding does to it; far outside for NaN and infinities.
MICA_INLINE F32 element_coordinate(const GridProblem& p, int axis, F32 g) {
  const auto size = static_cast<float>(p.size[axis]);
  const F32 half = set1(0.5f), from_low = add(g, set1(1.0f));
  F32 x = p.align_corners ? mul(mul(from_low, half), set1(size - 1))
                          : mul(sub(mul(from_low, set1(size)), set1(1.0f)), half);
  if (p.mode == GridMode::kNearest) x = round_even(x);
  const Ends ends = ends_of(p, axis);
  if (p.padding == GridPadding::kBorder)
    x = select(mask_or(lt(x, set1(ends.low)), gt(x, set1(ends.high))), clamp(x, 0, size - 1), x);
  if (p.padding == GridPadding::kReflection) x = reflect(x, ends);
  return select(lt(abs(x), set1(1e9f)), x, set1(-1e9f));
}

// Keys' cubic convolution with a = -0.75 at distances 1 + t and t of a tap, by its factors: no sums that cancel.
MICA_INLINE F32 cubic_outer(F32 t, F32 rest) { return mul(set1(-0.75f), mul(t, mul(rest, rest))); }
MICA_INLINE F32 cubic_inner(F32 t) { return fma(mul(t, t), fms(set1(1.25f), t, set1(2.25f)), set1(1.0f)); }

[[gnu::noinline]] void axis_taps(const GridProblem& p, int axis, F32 g, AxisTaps& taps) {
  const F32 x = element_coordinate(p, axis, g);
  if (p.mode == GridMode::kNearest) {
    put_place(p, axis, to_i32_trunc(x), taps.place[0], taps.inside[0]);
    taps.weight[0] = set1(1.0f);
    return;
  }
  const F32 base = floor(x), t = sub(x, base), rest = sub(set1(1.0f), t);
  const bool cubic = p.mode == GridMode::kCubic;
  const I32 first = cubic ? sub(to_i32_trunc(base), set1(1)) : to_i32_trunc(base);
  for (int k = 0; k < grid_axis_taps(p.mode); ++k)
    put_place(p, axis, add(first, set1(k)), taps.place[k], taps.inside[k]);
  if (cubic) {
    taps.weight[0] = cubic_outer(t, rest), taps.weight[1] = cubic_inner(t);
    taps.weight[2] = cubic_inner(rest), taps.weight[3] = cubic_outer(rest, t);
  } else {
    taps.weight[0] = rest, taps.weight[1] = t;
  }
}

// Tap t of point i of a block: offset[t * block + i], less than 0 for a zero, and its weight.
struct Taps {
  int64_t block, count;
  float* coordinate;  // of axis a: coordinate[a * block + i]
  int32_t* offset;
  float* weight;
};
MICA_INLINE Taps taps_in(const GridProblem& p, float* scratch) {
  const int64_t block = grid_block(p), count = grid_taps(p);
  float* weight = scratch + block * p.axes;
  return {block, count, scratch, reinterpret_cast<int32_t*>(weight + block * count), weight};
}

// One tap of kLanes points.
MICA_INLINE void put_tap(const Taps& taps, int64_t t, int64_t i, I32 offset, F32 weight, Mask inside) {
  store(taps.offset + t * taps.block + i, select(inside, offset, set1(-1)));
  store(taps.weight + t * taps.block + i, weight);
}

// The products of the axes' taps for points i to i + kLanes.
void put_taps(const GridProblem& p, const Taps& taps, int64_t i) {
  AxisTaps axis[kMostGridAxes];
  for (int a = 0; a < p.axes; ++a) axis_taps(p, a, load(taps.coordinate + a * taps.block + i), axis[a]);
  const int64_t each = grid_axis_taps(p.mode);
  for (int64_t t = 0; t < taps.count; ++t) {
    I32 offset = zero_i32();
    F32 weight = set1(1.0f);
    Mask inside = first_lanes(kLanes);
    for (int64_t a = p.axes, rest = t; a-- > 0; rest /= each) {
      const AxisTaps& one = axis[a];
      const int64_t k = rest % each;
      offset = add(offset, mul(one.place[k], set1(p.step[a])));
      weight = mul(weight, one.weight[k]);
      inside = mask_and(inside, one.inside[k]);
    }
    put_tap(taps, t, i, offset, weight, inside);
  }
}

// The same of pictures with two taps along each axis.
void put_four_taps(const GridProblem& p, const Taps& taps, int64_t i) {
  AxisTaps rows, columns;
  axis_taps(p, 0, load(taps.coordinate + i), rows);
  axis_taps(p, 1, load(taps.coordinate + taps.block + i), columns);
  MICA_UNROLL for (int r = 0; r < 2; ++r) MICA_UNROLL for (int c = 0; c < 2; ++c)
      put_tap(taps, 2 * r + c, i, add(mul(rows.place[r], set1(p.step[0])), mul(columns.place[c], set1(p.step[1]))),
              mul(columns.weight[c], rows.weight[r]), mask_and(rows.inside[r], columns.inside[c]));
}

// Coordinates axis by axis, and zeros up to whole vectors.
template <class T>
void read_points(const GridProblem& p, const T* grid, int64_t n, const Taps& taps) {
  for (int a = 0; a < p.axes; ++a) {
    float* to = taps.coordinate + a * taps.block;
    const T* from = grid + p.axes - 1 - a;
    if (p.axes == 2)
      for (int64_t i = 0; i < n; ++i) to[i] = static_cast<float>(from[i * 2]);
    else
      for (int64_t i = 0; i < n; ++i) to[i] = static_cast<float>(from[i * p.axes]);
    for (int64_t i = n; i % kLanes != 0; ++i) to[i] = 0;
  }
}

// The first n lanes, `step` floats apart.
MICA_INLINE void store_lanes(float* to, int64_t step, F32 v, int64_t n) {
  float lanes[kLanes];
  store(lanes, v);
  for (int64_t k = 0; k < n; ++k) to[k * step] = lanes[k];
}

void by_points(const GridProblem& p, const Taps& taps, int64_t n, const float* x, float* y) {
  for (int64_t c = 0; c < p.channels; ++c, x += p.in_channel, y += p.out_channel)
    for (int64_t i = 0; i < n; i += kLanes) {
      F32 sum = zero();
      for (int64_t t = 0; t < taps.count; ++t) {
        const I32 offset = load(taps.offset + t * taps.block + i);
        const F32 value = gather(x, max(offset, zero_i32()));
        sum = fma(load(taps.weight + t * taps.block + i), select(lt(offset, zero_i32()), zero(), value), sum);
      }
      float* to = y + i * p.out_point;
      if (n - i < kLanes)
        store_lanes(to, p.out_point, sum, n - i);
      else if (p.out_point == 1)
        store(to, sum);
      else
        store_strided(to, static_cast<ptrdiff_t>(p.out_point), sum);
    }
}

// kVectors vectors of channels of one point, of which the last has `width` lanes.
template <int kVectors>
MICA_INLINE void sum_point(const Taps& taps, int64_t i, const float* x, float* y, int64_t out_channel, int width) {
  F32 sum[kVectors];
  MICA_UNROLL for (int v = 0; v < kVectors; ++v) sum[v] = zero();
  for (int64_t t = 0; t < taps.count; ++t) {
    const int32_t offset = taps.offset[t * taps.block + i];
    if (offset < 0) continue;
    const F32 weight = set1(taps.weight[t * taps.block + i]);
    MICA_UNROLL for (int v = 0; v < kVectors; ++v) {
      const float* from = x + offset + v * kLanes;
      sum[v] = fma(weight, width == kLanes ? load(from) : load_partial(from, width), sum[v]);
    }
  }
  MICA_UNROLL for (int v = 0; v < kVectors; ++v) {
    float* to = y + v * kLanes * out_channel;
    if (out_channel != 1)
      store_lanes(to, out_channel, sum[v], width);
    else
      width == kLanes ? store(to, sum[v]) : store_partial(to, sum[v], width);
  }
}

void by_channels(const GridProblem& p, const Taps& taps, int64_t n, const float* x, float* y) {
  constexpr int kMany = 4;
  for (int64_t i = 0; i < n; ++i, y += p.out_point) {
    int64_t c = 0;
    for (; c + kMany * kLanes <= p.channels; c += kMany * kLanes)
      sum_point<kMany>(taps, i, x + c, y + c * p.out_channel, p.out_channel, kLanes);
    for (; c < p.channels; c += kLanes) {
      const int width = p.channels - c < kLanes ? static_cast<int>(p.channels - c) : kLanes;
      sum_point<1>(taps, i, x + c, y + c * p.out_channel, p.out_channel, width);
    }
  }
}

void sample(const GridProblem& p, const float* x, const void* grid, float* y, float* scratch, int64_t task_begin,
            int64_t task_end) {
  const Taps taps = taps_in(p, scratch);
  const int64_t blocks = grid_tasks(p) / p.images;
  for (int64_t task = task_begin; task < task_end; ++task) {
    const int64_t image = task / blocks, first = task % blocks * taps.block;
    const int64_t n = p.points - first < taps.block ? p.points - first : taps.block;
    const int64_t place = (image * p.points + first) * p.axes;
    if (p.doubles)
      read_points(p, static_cast<const double*>(grid) + place, n, taps);
    else
      read_points(p, static_cast<const float*>(grid) + place, n, taps);
    const bool four = p.axes == 2 && p.mode == GridMode::kLinear;
    for (int64_t i = 0; i < n; i += kLanes) four ? put_four_taps(p, taps, i) : put_taps(p, taps, i);
    const float* from = x + image * p.in_image;
    float* to = y + image * p.out_image + first * p.out_point;
    grid_by_channels(p) ? by_channels(p, taps, n, from, to) : by_points(p, taps, n, from, to);
  }
}

}  // namespace

extern const GridKernels grid_kernels;
const GridKernels grid_kernels = {.sample = sample};

}  // namespace mica::MICA_ISA
