#include <cmath>

#include "types/dense.h"
#include "types/infer.h"
#include "types/stop.h"

namespace mica {
namespace {

Status infer(InferScope& scope) {
  MICA_TRY_STATUS(require_rank(scope, 0, 2, kMaxRank));
  MICA_TRY_STATUS(require_float(scope, 0));
  const Shape& shape = scope.shape(0);
  if (shape.known()) {
    const Dim rows = shape[shape.rank - 2], columns = shape.back();
    MICA_CHECK(!rows.is_fixed() || !columns.is_fixed() || rows == columns, kBadShape,
               "matrices of {} x {} have no inverse", rows.value(), columns.value());
  }
  return infer_same(scope);
}

// Gauss-Jordan elimination with partial pivoting: `a` becomes the unit matrix, `inverse`, which begins as one, the
// inverse. Of a singular matrix the results are infinite or NaN.
Status invert(double* a, double* inverse, int64_t n, StopCheck& stop) {
  for (int64_t k = 0; k < n; ++k) {
    int64_t pivot = k;
    for (int64_t i = k + 1; i < n; ++i)
      if (std::fabs(a[i * n + k]) > std::fabs(a[pivot * n + k]) || std::isnan(a[i * n + k])) pivot = i;
    if (pivot != k) {
      std::swap_ranges(a + k * n, a + (k + 1) * n, a + pivot * n);
      std::swap_ranges(inverse + k * n, inverse + (k + 1) * n, inverse + pivot * n);
    }
    const double scale = 1 / a[k * n + k];
    for (int64_t j = 0; j < n; ++j) a[k * n + j] *= scale, inverse[k * n + j] *= scale;
    for (int64_t i = 0; i < n; ++i) {
      MICA_TRY_STATUS(stop.before(2 * n));
      const double factor = a[i * n + k];
      if (i == k || factor == 0) continue;
      for (int64_t j = 0; j < n; ++j) {
        a[i * n + j] -= factor * a[k * n + j];
        inverse[i * n + j] -= factor * inverse[k * n + j];
      }
    }
  }
  return {};
}

Status reference(RunScope& scope) {
  const TensorView& in = scope.in(0);
  MICA_CHECK(in.rank >= 2 && in.dim(in.rank - 1) == in.dim(in.rank - 2), kBadShape, "inverse needs square matrices");
  MICA_TRY_STATUS(scope.allocate_output(0, in.shape()));
  const int64_t n = in.dim(in.rank - 1), count = in.count();
  MICA_TRY(double* matrices, dense_numbers(scope, in));
  MICA_TRY(double* inverses, zero_numbers(scope, count));
  StopCheck stop(scope);
  for (int64_t at = 0; at < count; at += n * n) {
    for (int64_t i = 0; i < n; ++i) inverses[at + i * n + i] = 1;
    MICA_TRY_STATUS(invert(matrices + at, inverses + at, n, stop));
  }
  store_dense(inverses, scope.out(0));
  return {};
}

int64_t flops(const CostScope& scope) {
  const Shape& shape = scope.inputs[0].shape;
  const auto count = element_count(shape);
  return count.ok() && shape.rank >= 2 && shape.back().is_fixed() ? 4 * *count * shape.back().value() : 0;
}

}  // namespace

MICA_OP(inverse) = {.name = "inverse",
                    .doc = "The inverse of each matrix of the last two axes",
                    .infer = infer,
                    .reference = reference,
                    .flops = flops};

}  // namespace mica
