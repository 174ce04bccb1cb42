// Samples of an image at the places of a grid, fp32 (GridSample of ONNX). The taps of a block of points are worked out
// together, a point a lane, and then summed for all channels: vectors over channels where these are neighbours, else
// over points.
#pragma once
#include <stddef.h>
#include <stdint.h>

namespace mica {

enum class Isa : uint8_t;

enum class GridMode : uint8_t { kLinear, kNearest, kCubic };
enum class GridPadding : uint8_t { kZeros, kBorder, kReflection };
inline constexpr int kMostGridAxes = 3;

// Strides are in elements. A point is `axes` coordinates in [-1, 1], the last axis's first; points are dense. A task is
// `block` points of one image.
struct GridProblem {
  GridMode mode = GridMode::kLinear;
  GridPadding padding = GridPadding::kZeros;
  bool align_corners = false;
  bool doubles = false;  // the grid's elements; what is computed of them is single precision
  int axes = 2;
  int32_t size[kMostGridAxes] = {1, 1, 1}, step[kMostGridAxes] = {};
  int64_t images = 1, channels = 1, points = 0;
  int64_t in_image = 0, in_channel = 0, out_image = 0, out_channel = 0, out_point = 1;
};

constexpr int64_t grid_axis_taps(GridMode mode) {
  return mode == GridMode::kNearest ? 1 : mode == GridMode::kLinear ? 2 : 4;
}
constexpr int64_t grid_taps(const GridProblem& p) {
  const int64_t each = grid_axis_taps(p.mode);
  return p.axes == 1 ? each : p.axes == 2 ? each * each : each * each * each;
}
// Points of a task: a number of whole vectors, whose taps stay in the first-level cache.
constexpr int64_t grid_block(const GridProblem& p) { return 1024 / grid_taps(p); }
constexpr int64_t grid_tasks(const GridProblem& p) {
  return p.images * ((p.points + grid_block(p) - 1) / grid_block(p));
}
// Whether vectors go over channels: that takes neighbours, and more than a few.
constexpr bool grid_by_channels(const GridProblem& p) { return p.channels >= 4 && p.in_channel == 1; }

// Floats of scratch per worker: coordinates, and an offset and a weight for each tap.
constexpr int64_t grid_scratch(const GridProblem& p) { return grid_block(p) * (p.axes + 2 * grid_taps(p)); }

struct GridKernels {
  void (*sample)(const GridProblem& p, const float* x, const void* grid, float* y, float* scratch, int64_t task_begin,
                 int64_t task_end);
};
const GridKernels& grid_kernels(Isa isa);

}  // namespace mica
