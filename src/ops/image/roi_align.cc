#include <cmath>

#include "ops/image/roi_bins.h"
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

// The mean over a bin's samples, or ONNX's maximum: of the four weighted corners of each sample.
double pool(const TensorView& in, const char* channel, const roi::Region& region, const int64_t (&bin)[2], bool max) {
  double sum = 0, most = 0;
  bool any = false;
  const int64_t samples = region.samples(), size[] = {in.dim(2), in.dim(3)};
  for (int64_t i = 0; i < samples; ++i) {
    const roi::Corners c = region.sample(bin[0], bin[1], i, size);
    for (int k = 0; k < 4; ++k) {
      const int64_t offset = c.outside ? 0 : c.y[k / 2] * in.stride(2) + c.x[k % 2] * in.stride(3);
      const double value = c.outside ? 0 : c.wy[k / 2] * c.wx[k % 2] * load_number(in.dtype, channel + offset);
      sum += value;
      if (!any || value > most || std::isnan(value)) most = value;
      any = true;
    }
  }
  return max ? most : sum / static_cast<double>(std::max<int64_t>(samples, 1));
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
    double corners[4];
    for (int64_t k = 0; k < 4; ++k) {
      const int64_t at[] = {r, k};
      corners[k] = load_number(regions.dtype, element_at(regions, at));
    }
    MICA_TRY(const roi::Region region, roi::region_of(a, corners, r));
    MICA_TRY(const int64_t batch, checked_index(Elements(batches).integer(r), in.dim(0), "batch index"));
    for (int64_t c = 0; c < in.dim(1); ++c) {
      const char* channel = static_cast<const char*>(in.data) + batch * in.stride(0) + c * in.stride(1);
      for (int64_t y = 0; y < a.height; ++y)
        for (int64_t x = 0; x < a.width; ++x) {
          const int64_t at[] = {r, c, y, x};
          store_number(out.dtype, element_at(out, at), pool(in, channel, region, {y, x}, a.max));
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
