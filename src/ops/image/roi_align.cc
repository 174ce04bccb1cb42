#include "ops/image/roi_align.h"

#include <cmath>

#include "types/operand.h"

namespace mica {
namespace {

// Inputs: [N, C, H, W], regions [R, 4] as x1, y1, x2, y2, and the batch index of each region.
Status infer(InferScope& scope) {
  for (int i = 0; i < 2; ++i) MICA_TRY_STATUS(require_float(scope, i));
  const auto& attributes = scope.attributes<RoiAlign>();
  MICA_TRY_STATUS(require_rank(scope, 0, 4, 4));
  MICA_TRY_STATUS(require_rank(scope, 1, 2, 2));
  MICA_TRY_STATUS(require_rank(scope, 2, 1, 1));
  MICA_CHECK(attributes.height > 0 && attributes.width > 0, kBadAttribute, "regions of {} by {} elements",
             attributes.height, attributes.width);
  const Dim count = scope.shape(1).known() ? scope.shape(1)[0] : scope.dims().fresh("regions");
  const Dim channels = scope.shape(0).known() ? scope.shape(0)[1] : scope.dims().fresh("channels");
  scope.out(0, scope.dtype(0), Shape{count, channels, attributes.height, attributes.width});
  return {};
}

// The four elements around a place, and their weights.
struct Corners {
  int64_t y[2], x[2];
  double wy[2], wx[2];
  bool outside;
};

void corner_axis(double place, int64_t size, int64_t* index, double* weight) {
  place = std::fmax(place, 0);
  auto low = static_cast<int64_t>(place);
  const bool last = low >= size - 1;
  if (last) low = size - 1;
  index[0] = low;
  index[1] = last ? low : low + 1;
  weight[1] = last ? 0 : place - static_cast<double>(low);
  weight[0] = 1 - weight[1];
}

Corners corners_at(double y, double x, int64_t height, int64_t width) {
  Corners c{};
  c.outside = !(y >= -1 && y <= static_cast<double>(height) && x >= -1 && x <= static_cast<double>(width));
  if (c.outside) return c;
  corner_axis(y, height, c.y, c.wy);
  corner_axis(x, width, c.x, c.wx);
  return c;
}

struct Region {
  double y, x, bin_height, bin_width;
  int64_t rows, columns;
};

Result<Region> region_of(const RoiAlign& a, const TensorView& regions, int64_t r) {
  double v[4];
  for (int64_t k = 0; k < 4; ++k) {
    const int64_t at[] = {r, k};
    v[k] =
        load_number(regions.dtype, element_at(regions, at)) * static_cast<double>(a.scale) - (a.half_pixel ? 0.5 : 0.0);
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
  constexpr int64_t kMost = 1 << 16;
  MICA_CHECK(region.rows < kMost && region.columns < kMost, kBadValue, "region {} takes {} by {} samples a bin", r,
             region.rows, region.columns);
  return region;
}

// A region whose first bin is this one.
Region bin_of(Region region, int64_t row, int64_t column) {
  region.y += region.bin_height * static_cast<double>(row);
  region.x += region.bin_width * static_cast<double>(column);
  return region;
}

// The mean over the first bin's samples, or ONNX's maximum: of the four weighted corners of each sample.
double pool(const TensorView& in, const char* channel, const Region& region, bool max) {
  double sum = 0, most = 0;
  bool any = false;
  for (int64_t iy = 0; iy < region.rows; ++iy)
    for (int64_t ix = 0; ix < region.columns; ++ix) {
      const double y =
          region.y + region.bin_height * (static_cast<double>(iy) + 0.5) / static_cast<double>(region.rows);
      const double x =
          region.x + region.bin_width * (static_cast<double>(ix) + 0.5) / static_cast<double>(region.columns);
      const Corners c = corners_at(y, x, in.dim(2), in.dim(3));
      for (int k = 0; k < 4; ++k) {
        const int64_t offset = c.outside ? 0 : c.y[k / 2] * in.stride(2) + c.x[k % 2] * in.stride(3);
        const double value = c.outside ? 0 : c.wy[k / 2] * c.wx[k % 2] * load_number(in.dtype, channel + offset);
        sum += value;
        if (!any || value > most || std::isnan(value)) most = value;
        any = true;
      }
    }
  return max ? most : sum / static_cast<double>(std::max<int64_t>(region.rows * region.columns, 1));
}

Status reference(RunScope& scope) {
  const auto& a = scope.attributes<RoiAlign>();
  const TensorView &in = scope.in(0), &regions = scope.in(1), &batches = scope.in(2);
  MICA_CHECK(in.rank == 4 && regions.rank == 2 && regions.dim(1) == 4, kBadShape,
             "roi_align needs [N, C, H, W] and regions [R, 4]");
  MICA_CHECK(batches.rank == 1 && batches.dim(0) == regions.dim(0) && is_integer(batches.dtype), kBadShape,
             "roi_align needs {} batch indices", regions.dim(0));
  MICA_CHECK(in.dim(2) > 0 && in.dim(3) > 0, kBadShape, "roi_align of an empty picture");
  const int64_t dims[] = {regions.dim(0), in.dim(1), a.height, a.width};
  MICA_TRY_STATUS(scope.allocate_output(0, dims));
  const TensorView& out = scope.out(0);
  for (int64_t r = 0; r < dims[0]; ++r) {
    MICA_TRY_STATUS(scope.check_stop());
    MICA_TRY(const Region region, region_of(a, regions, r));
    MICA_TRY(const int64_t batch, checked_index(Elements(batches).integer(r), in.dim(0), "batch index"));
    for (int64_t c = 0; c < in.dim(1); ++c) {
      const char* channel = static_cast<const char*>(in.data) + batch * in.stride(0) + c * in.stride(1);
      for (int64_t y = 0; y < a.height; ++y)
        for (int64_t x = 0; x < a.width; ++x) {
          const int64_t at[] = {r, c, y, x};
          store_number(out.dtype, element_at(out, at), pool(in, channel, bin_of(region, y, x), a.max));
        }
    }
  }
  return {};
}

}  // namespace

MICA_OP(roi_align) = {.name = "roi_align",
                      .doc = "Regions of a picture resampled to one size, by bilinear samples in each bin",
                      .inputs = {3, 3},
                      .attributes = attr_class<RoiAlign>(),
                      .infer = infer,
                      .reference = reference};

}  // namespace mica
