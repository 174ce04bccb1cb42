// Where the bins of a region lie, and what a sample takes: for the reference and the kernel.
#pragma once
#include <cmath>

#include "ops/image/roi_align.h"
#include "types/op.h"

namespace mica::roi {

// The four elements around a place, and their weights.
struct Corners {
  int64_t y[2], x[2];
  double wy[2], wx[2];
  bool outside;
};

inline void corner_axis(double place, int64_t size, int64_t* index, double* weight) {
  place = std::fmax(place, 0);
  auto low = static_cast<int64_t>(place);
  const bool last = low >= size - 1;
  if (last) low = size - 1;
  index[0] = low;
  index[1] = last ? low : low + 1;
  weight[1] = last ? 0 : place - static_cast<double>(low);
  weight[0] = 1 - weight[1];
}

inline Corners corners_at(double y, double x, int64_t height, int64_t width) {
  Corners c{};
  c.outside = !(y >= -1 && y <= static_cast<double>(height) && x >= -1 && x <= static_cast<double>(width));
  if (c.outside) return c;
  corner_axis(y, height, c.y, c.wy);
  corner_axis(x, width, c.x, c.wx);
  return c;
}

struct Region {
  double y, x, bin_height, bin_width;
  int64_t rows, columns;  // of samples in a bin

  int64_t samples() const { return rows > 0 && columns > 0 ? rows * columns : 0; }
  // Sample i of a bin.
  Corners sample(int64_t bin_row, int64_t bin_column, int64_t i, const int64_t (&size)[2]) const {
    const int64_t row = i / columns, column = i % columns;
    const auto iy = static_cast<double>(row), ix = static_cast<double>(column);
    const double top = y + bin_height * static_cast<double>(bin_row),
                 left = x + bin_width * static_cast<double>(bin_column);
    return corners_at(top + bin_height * (iy + 0.5) / static_cast<double>(rows),
                      left + bin_width * (ix + 0.5) / static_cast<double>(columns), size[0], size[1]);
  }
};

constexpr int64_t kMostSamples = 1 << 16;  // of a bin, on each axis

// `corners`: x1, y1, x2, y2 as they are given.
inline Result<Region> region_of(const RoiAlign& a, const double (&corners)[4], int64_t r) {
  double v[4];
  for (int k = 0; k < 4; ++k) {
    v[k] = corners[k] * static_cast<double>(a.scale) - (a.half_pixel ? 0.5 : 0.0);
    MICA_CHECK(std::fabs(v[k]) < 1e9, kBadValue, "region {} has the coordinate {}", r, v[k]);
  }
  double height = v[3] - v[1], width = v[2] - v[0];
  if (!a.half_pixel) {
    height = std::fmax(height, 1);
    width = std::fmax(width, 1);
  }
  Region region{v[1], v[0], height / static_cast<double>(a.height), width / static_cast<double>(a.width), 0, 0};
  region.rows = a.sampling > 0 ? a.sampling : static_cast<int64_t>(std::ceil(region.bin_height));
  region.columns = a.sampling > 0 ? a.sampling : static_cast<int64_t>(std::ceil(region.bin_width));
  MICA_CHECK(region.rows < kMostSamples && region.columns < kMostSamples, kBadValue,
             "region {} takes {} by {} samples a bin", r, region.rows, region.columns);
  return region;
}

}  // namespace mica::roi
