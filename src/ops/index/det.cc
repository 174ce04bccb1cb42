#include <cmath>

#include "types/operand.h"
#include "types/stop.h"

namespace mica {
namespace {

Status infer(InferScope& scope) {
  MICA_TRY_STATUS(require_rank(scope, 0, 2, kMaxRank));
  MICA_TRY_STATUS(require_float(scope, 0));
  Shape out = scope.shape(0);
  if (out.known()) {
    MICA_TRY_STATUS(same_dim(out[out.rank - 1], out[out.rank - 2], "rows and columns of det"));
    out.rank = static_cast<int8_t>(out.rank - 2);
  }
  scope.out(0, scope.dtype(0), out);
  return {};
}

// Gaussian elimination with partial pivoting; `a` is n·n and is overwritten. A NaN anywhere in a pivot's column goes
// through.
Result<double> determinant(double* a, int64_t n, StopCheck& stop) {
  double product = 1;
  for (int64_t k = 0; k < n; ++k) {
    int64_t pivot = k;
    for (int64_t i = k + 1; i < n; ++i)
      if (std::fabs(a[i * n + k]) > std::fabs(a[pivot * n + k]) || std::isnan(a[i * n + k])) pivot = i;
    if (a[pivot * n + k] == 0) return 0.0;
    if (pivot != k) {
      for (int64_t j = 0; j < n; ++j) std::swap(a[k * n + j], a[pivot * n + j]);
      product = -product;
    }
    product *= a[k * n + k];
    for (int64_t i = k + 1; i < n; ++i) {
      MICA_TRY_STATUS(stop.before(n - k));
      const double factor = a[i * n + k] / a[k * n + k];
      for (int64_t j = k + 1; j < n; ++j) a[i * n + j] -= factor * a[k * n + j];
    }
  }
  return product;
}

Status reference(RunScope& scope) {
  const TensorView& in = scope.in(0);
  MICA_CHECK(in.rank >= 2 && in.dim(in.rank - 1) == in.dim(in.rank - 2), kBadShape, "det needs square matrices");
  MICA_TRY_STATUS(scope.allocate_output(0, in.shape().first(static_cast<size_t>(in.rank - 2))));
  const int64_t n = in.dim(in.rank - 1), matrices = scope.out(0).count();
  MICA_TRY(void* memory, scope.allocate(static_cast<size_t>(n * n) * sizeof(double)));
  auto* matrix = static_cast<double*>(memory);
  const Elements from(in), to(scope.out(0));
  StopCheck stop(scope);
  for (int64_t m = 0; m < matrices; ++m) {
    MICA_TRY_STATUS(stop.before(n * n));
    for (int64_t i = 0; i < n * n; ++i) matrix[i] = from.number(m * n * n + i);
    MICA_TRY(const double found, determinant(matrix, n, stop));
    to.set_number(m, found);
  }
  return {};
}

}  // namespace

MICA_OP(det) = {.name = "det",
                .doc = "Determinants of the matrices on the last two axes",
                .infer = infer,
                .reference = reference,
                .flops = [](const CostScope& cost) -> int64_t {
                  const Shape& in = cost.inputs[0].shape;
                  const Result<int64_t> count = element_count(in);
                  return count.ok() && in.rank >= 2 ? *count * in.back().value() * 2 / 3 : 0;
                }};

}  // namespace mica
