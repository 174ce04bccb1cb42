#include "ops/image/max_roi_pool.h"

#include <algorithm>
#include <cmath>

#include "types/operand.h"
#include "types/stop.h"

namespace mica {
namespace {

// Inputs: [N, C, H, W] and regions [R, 5] as batch index, x1, y1, x2, y2.
Status infer(InferScope& scope) {
  const Ints& size = scope.attributes<MaxRoiPool>().pooled_shape;
  MICA_TRY_STATUS(require_rank(scope, 0, 4, 4));
  MICA_TRY_STATUS(require_rank(scope, 1, 2, 2));
  MICA_CHECK(size.size() == 2 && size[0] > 0 && size[1] > 0, kBadAttribute,
             "pooled_shape must be two positive numbers");
  const Dim count = scope.shape(1).known() ? scope.shape(1)[0] : scope.dims().fresh("regions");
  const Dim channels = scope.shape(0).known() ? scope.shape(0)[1] : scope.dims().fresh("channels");
  scope.out(0, scope.dtype(0), Shape{count, channels, size[0], size[1]});
  return {};
}

struct Span {
  int64_t begin, end;
};
// Bin i of `bins` over a region of `length` elements from `start`, clipped to the picture.
Span bin(int64_t start, int64_t length, int64_t i, int64_t bins, int64_t size) {
  const double step = static_cast<double>(length) / static_cast<double>(bins);
  const auto begin = static_cast<int64_t>(std::floor(static_cast<double>(i) * step)),
             end = static_cast<int64_t>(std::ceil(static_cast<double>(i + 1) * step));
  return {std::clamp<int64_t>(start + begin, 0, size), std::clamp<int64_t>(start + end, 0, size)};
}

double largest(const TensorView& in, const char* channel, Span rows, Span columns) {
  if (rows.begin >= rows.end || columns.begin >= columns.end) return 0;
  double most = -HUGE_VAL;
  for (int64_t y = rows.begin; y < rows.end; ++y)
    for (int64_t x = columns.begin; x < columns.end; ++x) {
      const double value = load_number(in.dtype, channel + y * in.stride(2) + x * in.stride(3));
      if (std::isnan(value)) return value;
      most = std::fmax(most, value);
    }
  return most;
}

Status reference(RunScope& scope) {
  const auto& a = scope.attributes<MaxRoiPool>();
  const TensorView &in = scope.in(0), &regions = scope.in(1);
  MICA_CHECK(in.rank == 4 && regions.rank == 2 && regions.dim(1) == 5 && a.pooled_shape.size() == 2, kBadShape,
             "max_roi_pool needs [N, C, H, W] and regions [R, 5]");
  const int64_t dims[] = {regions.dim(0), in.dim(1), a.pooled_shape[0], a.pooled_shape[1]};
  MICA_TRY_STATUS(scope.allocate_output(0, dims));
  const TensorView& out = scope.out(0);
  StopCheck stop(scope);
  for (int64_t r = 0; r < dims[0]; ++r) {
    int64_t v[4];
    for (int64_t k = 0; k < 5; ++k) {
      const int64_t at[] = {r, k};
      const double number =
          load_number(regions.dtype, element_at(regions, at)) * (k ? static_cast<double>(a.scale) : 1);
      MICA_CHECK(std::fabs(number) < 1e9, kBadValue, "region {} has the coordinate {}", r, number);
      if (k) v[k - 1] = static_cast<int64_t>(std::round(number));
    }
    const int64_t first[] = {r, 0};
    MICA_TRY(const int64_t batch,
             checked_index(static_cast<int64_t>(load_number(regions.dtype, element_at(regions, first))), in.dim(0),
                           "batch index"));
    const int64_t width = std::max<int64_t>(v[2] - v[0] + 1, 1), height = std::max<int64_t>(v[3] - v[1] + 1, 1);
    for (int64_t c = 0; c < in.dim(1); ++c) {
      const char* channel = static_cast<const char*>(in.data) + batch * in.stride(0) + c * in.stride(1);
      for (int64_t y = 0; y < dims[2]; ++y)
        for (int64_t x = 0; x < dims[3]; ++x) {
          const int64_t at[] = {r, c, y, x};
          const Span rows = bin(v[1], height, y, dims[2], in.dim(2)), columns = bin(v[0], width, x, dims[3], in.dim(3));
          MICA_TRY_STATUS(stop.before(std::max<int64_t>(rows.end - rows.begin, 0) *
                                      std::max<int64_t>(columns.end - columns.begin, 0)));
          store_number(out.dtype, element_at(out, at), largest(in, channel, rows, columns));
        }
    }
  }
  return {};
}

}  // namespace

MICA_OP(max_roi_pool) = {.name = "max_roi_pool",
                         .doc = "The largest element in each bin of regions of a picture",
                         .inputs = {2, 2},
                         .attributes = attr_class<MaxRoiPool>(),
                         .infer = infer,
                         .reference = reference};

}  // namespace mica
