#include "kernels/conv/winograd.h"

#include <math.h>

#include "base/integers.h"
#include "base/isa.h"
#include "kernels/gemm/cost.h"
#include "kernels/pack/pack.h"

namespace mica {
namespace {

constexpr int64_t kFloatBytes = 4;
// A cycle: what a block of tiles that is too large for the second-level cache gets from the next one. Its cost must be
// less than this share of the smaller blocks'.
constexpr double kNextCacheBytes = 20, kWorthLarger = 0.95;
constexpr int64_t kFarWeights = 4;  // second-level caches: so many that the next cache hardly keeps them

// Of weights that are transformed on the way: a vector of one point, and fewer channels than make it worth a call.
constexpr double kWeightCycles = 4.5;
constexpr int64_t kLeastChannels = 16;
constexpr int64_t kMostScratch = 2;  // second-level caches, that tiles then take

constexpr double kUnit = kRoundingUnit;
constexpr double kTransformRoundings = 5;

constexpr int kMostTaps = kMostWinogradPoints - 1;  // of a filter
constexpr int64_t kMostTapsAlone = 64;              // of an axis that alone has some

// A panel of `count`, each of so many channels for each slice.
struct PanelOf {
  int64_t index, count, channels;
};

int points_of(ConvAlgorithm algorithm) {
  if (algorithm == ConvAlgorithm::kWinograd4) return 4;
  if (algorithm == ConvAlgorithm::kWinograd6) return 6;
  return algorithm == ConvAlgorithm::kWinograd8 ? 8 : 0;
}

// The tiles that kernels exist for (conv/winograd.inl).
bool exists(int points, int taps) {
  if (points == 4) return taps == 3 || taps == 2;
  if (points == 6) return taps == 2 || taps == 3 || taps == 5;
  return points == 8 && (taps == 3 || taps == 5 || taps == 7);
}

// The largest Σ over points of (A_ki b_i g_i)² of any output k, over the number of taps; g_i² of all filters.
double amplification(const WinogradPlane& plane, int axis) {
  const int points = plane.points[axis], taps = plane.taps[axis], filters = plane.filters[axis];
  if (points == 1) return 1;
  const WinogradPolynomials w = winograd_polynomials(points);
  const WinogradRows rows = winograd_rows(points, taps);
  const int all = filters * taps - plane.missing[axis], tile = plane.tile[axis];
  double size[kMostWinogradPoints] = {};  // (b_i g_i)²
  for (int i = 0; i < points; ++i) {
    double g = 0, b = 0;
    for (int f = 0; f < filters; ++f)
      for (int k = 0; k < (f + 1 < filters ? taps : taps - plane.missing[axis]); ++k) g += rows.g[i][k] * rows.g[i][k];
    const bool is_pair = i > 0 && i < points - 1;
    const int pair = (i - 1) / 2;
    for (int k = 0; k <= w.pairs; ++k) {
      if (!is_pair) b += w.zero[k] * w.zero[k];
      if (is_pair && k < w.pairs) b += w.rest[pair][k] * w.rest[pair][k] * (1 + w.p[pair] * w.p[pair]);
    }
    size[i] = g * b;
  }
  double most = 0;
  for (int k = 0; k < tile; ++k) {
    double sum = (k == 0 ? size[0] : 0) + (k == tile - 1 ? size[points - 1] : 0);
    for (int i = 1; i < points - 1; ++i) sum += size[i] * pow(w.p[(i - 1) / 2], 2 * k);
    if (sum > most) most = sum;
  }
  return most / all;
}

// Aims at a slice's matrices of one panel, `u` being the group's.
void aim_matrices(const WinogradPlane& plane, int64_t slice, const PanelOf& panel, float* u, WinogradWeights& one) {
  for (int point = 0; point < plane.all_points(); ++point) {
    const WinogradRange range = winograd_range(plane, point);
    const int64_t place = slice - range.first;
    const bool has_part = place >= 0 && place < range.count;
    one.to[point] = has_part ? u + (panel.index * range.count + place) * panel.channels * kPanel : nullptr;
    u += range.count * panel.count * panel.channels * kPanel;
  }
}

// What a slice's filters are; returns which they are.
WinogradSlice take_filters(const WinogradPlane& plane, int64_t slice, WinogradWeights& one) {
  const WinogradSlice s = winograd_slice(plane, slice);
  for (int axis = 0; axis < 2; ++axis) {
    one.points[axis] = plane.points[axis];
    one.taps[axis] = plane.taps[axis];
    one.missing[axis] = s.filter[axis] + 1 == plane.filters[axis] ? plane.missing[axis] : 0;
  }
  return s;
}

// Whether the kernels' tiles fit the axis, which gets its sizes.
bool take_axis(const ConvProblem& p, int points, int axis, WinogradPlane& plane) {
  const int from = plane.from[axis];
  const int64_t kernel = p.kernel[from], stride = p.stride[from];
  const bool single = axis == 0 && kernel == 1;
  const bool alone = axis == 1 && plane.points[0] == 1;
  if (stride > 2 || kernel > (alone ? kMostTapsAlone : 2 * kMostTaps) || (stride == 2 && p.dilation[from] > 1))
    return false;
  // Filters of three taps, of four taps alone two of two.
  const bool apart = alone && stride == 1 && kernel > 3 && !exists(points, static_cast<int>(kernel));
  const int64_t taps = !apart ? ceil_div(kernel, stride) : kernel == 4 && points < 8 ? 2 : 3;
  if (!single && !exists(points, static_cast<int>(taps))) return false;
  plane.points[axis] = single ? 1 : points;
  plane.taps[axis] = static_cast<int>(taps);
  plane.filters[axis] = static_cast<int>(apart ? ceil_div(kernel, taps) : least(stride, kernel));
  plane.between[axis] = apart ? plane.taps[axis] : 1;
  plane.missing[axis] = static_cast<int>(plane.filters[axis] * taps - kernel);
  plane.tile[axis] = plane.points[axis] - plane.taps[axis] + 1;
  plane.in[axis] = p.in[from];
  plane.out[axis] = p.out[from];
  plane.pad[axis] = p.pad[from];
  plane.stride[axis] = stride;
  plane.dilation[axis] = single ? 1 : p.dilation[from];
  plane.in_step[axis] = step_of(p.in_view, from);
  plane.out_step[axis] = step_of(p.out_view, from);
  plane.residual_step[axis] = step_of(p.residual_view, from);
  plane.tiles[axis] = ceil_div(ceil_div(plane.out[axis], plane.dilation[axis]), plane.tile[axis]);
  return true;
}

}  // namespace

WinogradPlane winograd_plane(const ConvProblem& p, ConvAlgorithm algorithm) {
  WinogradPlane plane;
  const int points = points_of(algorithm);
  if (p.kernel[2] == 1) {
    plane.from[0] = 2;
    plane.from[1] = p.kernel[1] == 1 ? 0 : 1;
    plane.outer = 1 - plane.from[1];
  }
  plane.planes = p.out[plane.outer];
  plane.outer_taps = p.kernel[plane.outer];
  plane.fits = points > 0 && plane.outer_taps > 0 && take_axis(p, points, 0, plane) && take_axis(p, points, 1, plane) &&
               (plane.points[0] == 1 || plane.taps[0] == plane.taps[1]);
  return plane;
}

// Filters of both axes go around: odd ones across, even ones of both, odd ones down, odd ones of both. Those that are
// even down are the first two then, and those that are even across the second and the third.
WinogradSlice winograd_slice(const WinogradPlane& plane, int64_t slice) {
  const auto pair = static_cast<int>(slice / plane.outer_taps);
  const int64_t outer = slice % plane.outer_taps;
  if (plane.filters[0] == 1) return {{0, pair}, outer};
  if (plane.filters[1] == 1) return {{pair, 0}, outer};
  return {{pair / 2, pair == 0 || pair == 3}, outer};
}

WinogradRange winograd_range(const WinogradPlane& plane, int point) {
  const bool down = plane.missing[0] > 0 && point / plane.points[1] == plane.points[0] - 1;
  const bool across = plane.missing[1] > 0 && point % plane.points[1] == plane.points[1] - 1;
  const int64_t first = across && plane.filters[0] == 2;
  const int64_t all = plane.filters[0] * plane.filters[1];
  if (across && plane.filters[0] == 1) return {0, (all - 1) * plane.outer_taps};
  const int64_t end = down ? all / 2 : across ? first + all / 2 : all;
  return {first * plane.outer_taps, (end - first) * plane.outer_taps};
}

int64_t winograd_channels(const WinogradPlane& plane, int64_t channels, const GemmLimits& limits) {
  const int64_t channel_bytes = plane.all_points() * kPanelsOnTheWay * kPanel * kFloatBytes;
  const int64_t fit = most(limits.l2_bytes * 3 / 10 / channel_bytes, kLeastChannels);
  return ceil_div(channels, ceil_div(channels, fit));
}

double winograd_block_cycles(const WinogradPlane& plane, const WinogradWork& work, int64_t tiles, Isa isa,
                             const GemmLimits& limits) {
  const auto points = static_cast<double>(plane.all_points());
  const int64_t depth = winograd_depth(plane, work.channels), columns = work.out_columns;
  if (!work.on_the_way) return points * product_cycles(isa, tiles, columns, depth, limits);
  const int64_t part = winograd_channels(plane, work.channels, limits);
  const auto parts = static_cast<double>(plane.slices() * ceil_div(work.channels, part));
  const auto taps = static_cast<double>(plane.matrices() * work.channels * work.out_columns) / cost_lanes(isa).lanes;
  const auto deep = static_cast<int64_t>(static_cast<double>(depth) / parts);
  return points * parts * product_cycles(isa, tiles, columns, deep, limits) + taps * kWeightCycles;
}

int64_t winograd_block(const WinogradPlane& plane, const WinogradWork& work, Isa isa, const GemmLimits& limits) {
  const int64_t tile_rows = cost_lanes(isa).rows, points = plane.all_points();
  const int64_t columns = work.on_the_way ? least(work.out_columns, kPanelsOnTheWay * kPanel) : work.out_columns;
  const int64_t tile_bytes = points * (winograd_row(plane, work.channels) + columns) * kFloatBytes;
  const int64_t room = limits.l2_bytes * 2 / 5;
  int64_t fit = room / tile_bytes / tile_rows * tile_rows;
  if (fit < tile_rows) fit = tile_rows;
  // The nearest number of equal blocks: half a block more in cache costs less than a block with few rows.
  int64_t blocks = (work.tiles + fit / 2) / fit;
  if (blocks < 1) blocks = 1;
  const int64_t weights = points * panels_size(winograd_depth(plane, work.channels), work.out_columns) * kFloatBytes;
  const auto cost = [&](int64_t count) {
    const int64_t block = ceil_div(work.tiles, count);
    const double cycles = static_cast<double>(count) * winograd_block_cycles(plane, work, block, isa, limits);
    const double beyond = block > fit ? 2 * static_cast<double>(work.tiles * tile_bytes) / kNextCacheBytes : 0;
    const int64_t bytes = work.on_the_way ? 0 : weights * count;
    return overlapped(cycles, static_cast<double>(bytes), limits) + beyond;
  };
  if (work.on_the_way || weights > kFarWeights * limits.l2_bytes) {
    // Weights that are transformed on the way are so to save memory.
    const int64_t roomy =
        work.on_the_way ? most(ceil_div(work.tiles * tile_bytes, kMostScratch * limits.l2_bytes), 1) : 1;
    int64_t best = blocks;
    for (int64_t count = blocks - 1; count >= roomy; --count)
      if (cost(count) < cost(best)) best = count;
    if (work.on_the_way || cost(best) < kWorthLarger * cost(blocks)) return ceil_div(work.tiles, best);
  }
  // Every block passes all weights once: one with few rows waits for them.
  const int64_t wanted = least(work.tasks, (work.tiles + tile_rows / 2) / tile_rows);
  const int64_t most_blocks = blocks < wanted ? wanted : blocks;
  if (work.tasks == 1 || most_blocks <= limits.threads) return ceil_div(work.tiles, most_blocks);
  // Threads have as many blocks each: of seven, one of two threads would have four. `even_block` would cut blocks to
  // far fewer rows than a register tile's. Not as many as are wanted where fewer ones have better heights of tiles.
  int64_t best = ceil_div(blocks, limits.threads) * limits.threads;
  double least_cost = cost(best);
  for (int64_t count = best; count < most_blocks;) {
    count += limits.threads;
    if (const double c = cost(count); c < least_cost) best = count, least_cost = c;
  }
  return ceil_div(work.tiles, best);
}

int64_t winograd_size(const ConvProblem& p, ConvAlgorithm algorithm) {
  const WinogradPlane plane = winograd_plane(p, algorithm);
  return p.groups * plane.matrices() * panels_size(p.in_channels / p.groups, p.out_channels / p.groups);
}

// Channels are gathered one by one: for weights that are not in panels.
void pack_winograd(const ConvProblem& p, ConvAlgorithm algorithm, const PanelSource& weights, float* u,
                   WinogradWeightsFn kernel) {
  const WinogradPlane plane = winograd_plane(p, algorithm);
  const int64_t channels = weights.k[3], panels = panel_count(weights.n), *step = weights.k_stride;
  const int64_t down_step = step[plane.from[0]], across_step = step[plane.from[1]];
  float block[kMostTaps][kMostTaps][kPanel];
  WinogradWeights one;
  one.from = block[0][0];
  one.tap_step[0] = kMostTaps * kPanel;
  one.tap_step[1] = kPanel;
  for (int64_t panel = 0; panel < panels; ++panel)
    for (int64_t slice = 0; slice < plane.slices(); ++slice) {
      const WinogradSlice s = take_filters(plane, slice, one);
      aim_matrices(plane, slice, {panel, panels, channels}, u, one);
      for (int64_t c = 0; c < channels; ++c) {
        for (int64_t j = 0; j < kPanel; ++j) {
          const int64_t n = panel * kPanel + j;
          const float* from = weights.data + n * weights.n_stride + s.outer * step[plane.outer] + c * step[3];
          for (int64_t y = 0; y < plane.taps[0] - one.missing[0]; ++y)
            for (int64_t x = 0; x < plane.taps[1] - one.missing[1]; ++x) {
              const int64_t down = s.filter[0] * plane.between[0] + y * plane.stride[0];
              const int64_t across = s.filter[1] * plane.between[1] + x * plane.stride[1];
              block[y][x][j] = n < weights.n ? from[down * down_step + across * across_step] : 0.0f;
            }
        }
        kernel(one);
        for (int point = 0; point < plane.all_points(); ++point)
          if (one.to[point]) one.to[point] += kPanel;
      }
    }
}

int64_t winograd_panels(const ConvProblem& p) { return p.groups * panel_count(p.out_channels / p.groups); }

void transform_panels(const ConvProblem& p, ConvAlgorithm algorithm, WinogradWeightsFn kernel, const float* packed,
                      float* u, int64_t first, int64_t last) {
  const WinogradPlane plane = winograd_plane(p, algorithm);
  const int64_t channels = p.in_channels / p.groups, panels = panel_count(p.out_channels / p.groups);
  const int64_t group = plane.matrices() * panels * channels * kPanel;
  WinogradWeights one{.channels = channels};
  for (int64_t i = first; i < last; ++i)
    for (int64_t slice = 0; slice < plane.slices(); ++slice) {
      aim_taps(plane, p, slice, packed, i, one);
      aim_matrices(plane, slice, {i % panels, panels, channels}, u + i / panels * group, one);
      kernel(one);
    }
}

void aim_taps(const WinogradPlane& plane, const ConvProblem& p, int64_t slice, const float* packed, int64_t panel,
              WinogradWeights& one) {
  const int64_t down = p.kernel[plane.from[0]], across = p.kernel[plane.from[1]];
  const int64_t size = p.in_channels / p.groups * kPanel;
  const WinogradSlice s = take_filters(plane, slice, one);
  one.tap_step[0] = plane.stride[0] * across * size;
  one.tap_step[1] = plane.stride[1] * size;
  one.panel_step = plane.outer_taps * down * across * size;
  const int64_t row = (panel * plane.outer_taps + s.outer) * down + s.filter[0] * plane.between[0];
  one.from = packed + (row * across + s.filter[1] * plane.between[1]) * size;
}

double winograd_error(const WinogradPlane& plane, int64_t length) {
  const double grown = amplification(plane, 0) * amplification(plane, 1);
  return kUnit * sqrt(grown * (static_cast<double>(length) / 6 + kTransformRoundings / 3));
}

}  // namespace mica
