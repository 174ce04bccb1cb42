#include "ops/matmul/product.h"
#include "types/dense.h"
#include "types/requantize.h"

namespace mica {
namespace {

enum Input { kA, kAScale, kAZero, kB, kBScale, kBZero, kYScale, kYZero };

Status infer(InferScope& scope) {
  MICA_TRY(const Shape shape, matmul::product_shape(scope, kA, kB));
  for (int i : {kA, kB, kYZero}) {
    MICA_TRY_STATUS(require_tensor(scope, i));
    MICA_CHECK(is_byte(scope.dtype(i)) || (is_float(scope.dtype(i)) && bits_of(scope.dtype(i)) == 8), kBadType,
               "input {} must be an 8-bit type, not {}", i, name_of(scope.dtype(i)));
  }
  for (int i : {kAScale, kBScale, kYScale}) MICA_TRY_STATUS(require_float(scope, i));
  MICA_TRY_STATUS(require_same_dtype(scope, kA, kAZero));
  MICA_TRY_STATUS(require_same_dtype(scope, kB, kBZero));
  scope.out(0, scope.dtype(kYZero), shape);
  return {};
}

// A scale or zero point of operand `input`: one for all, one for each line (row of A, column of B, row of Y), or one
// for each line of each matrix.
struct Lines {
  Elements elements;
  int64_t count, lines;
  double number(int64_t matrix, int64_t line) const { return elements.number(index(matrix, line)); }
  int64_t integer(int64_t matrix, int64_t line) const { return elements.integer(index(matrix, line)); }
  int64_t index(int64_t matrix, int64_t line) const {
    return count == 1 ? 0 : count == lines ? line : matrix * lines + line;
  }
};
Result<Lines> lines_of(const RunScope& scope, int input, int64_t lines, int64_t matrices) {
  const int64_t count = scope.in(input).count();
  MICA_CHECK(count == 1 || count == lines || count == lines * matrices, kBadShape,
             "input {} has {} elements, expected 1 or {}", input, count, lines);
  return Lines{Elements(scope.in(input)), count, lines};
}

int64_t matrices_of(const TensorView& view, int64_t rows, int64_t columns) {
  return rows * columns > 0 ? view.count() / (rows * columns) : 0;
}

// Operands as doubles with their zero points subtracted: exact for 8-bit types, and so are sums of up to 2^37 products.
Status center(const RunScope& scope, const matmul::Product& p, double* a, double* b) {
  const int64_t a_matrices = matrices_of(scope.in(kA), p.m, p.k), b_matrices = matrices_of(scope.in(kB), p.k, p.n);
  MICA_TRY(const Lines a_zero, lines_of(scope, kAZero, p.m, a_matrices));
  MICA_TRY(const Lines b_zero, lines_of(scope, kBZero, p.n, b_matrices));
  for (int64_t i = 0; i < a_matrices * p.m * p.k; ++i) a[i] -= a_zero.number(i / (p.m * p.k), i / p.k % p.m);
  for (int64_t i = 0; i < b_matrices * p.k * p.n; ++i) b[i] -= b_zero.number(i / (p.k * p.n), i % p.n);
  return {};
}

Status reference(RunScope& scope) {
  MICA_TRY(const matmul::Product p, matmul::product_of(scope.in(kA).shape(), scope.in(kB).shape()));
  MICA_TRY_STATUS(scope.allocate_output(0, p.out_dims()));
  MICA_TRY(double* a, dense_numbers(scope, scope.in(kA)));
  MICA_TRY(double* b, dense_numbers(scope, scope.in(kB)));
  MICA_TRY_STATUS(center(scope, p, a, b));
  const int64_t count = scope.out(0).count(), per_matrix = p.m * p.n;
  MICA_TRY(double* c, zero_numbers(scope, count));
  MICA_TRY_STATUS(matmul::multiply(scope, p, a, b, c));
  MICA_TRY(const Lines a_scale, lines_of(scope, kAScale, p.m, matrices_of(scope.in(kA), p.m, p.k)));
  MICA_TRY(const Lines b_scale, lines_of(scope, kBScale, p.n, matrices_of(scope.in(kB), p.k, p.n)));
  MICA_TRY(const Lines y_scale, lines_of(scope, kYScale, p.m, p.batches()));
  MICA_TRY(const Lines y_zero, lines_of(scope, kYZero, p.m, p.batches()));
  const Elements out(scope.out(0));
  const bool integers = is_byte(scope.out(0).dtype);
  for (int64_t i = 0; i < count; ++i) {
    const int64_t matrix = i / per_matrix, row = i % per_matrix / p.n, column = i % p.n;
    const float multiplier = requantize_multiplier(static_cast<float>(a_scale.number(matrix, row)),
                                                   static_cast<float>(b_scale.number(matrix, column)),
                                                   static_cast<float>(y_scale.number(matrix, row)));
    if (integers && is_byte(scope.in(kA).dtype))
      out.set_integer(i, requantize(static_cast<int32_t>(static_cast<int64_t>(c[i])), multiplier,
                                    y_zero.integer(matrix, row), range_of_i8(scope.out(0).dtype)));
    else
      out.set_number(i, c[i] * static_cast<double>(multiplier) + y_zero.number(matrix, row));
  }
  return {};
}

int64_t flops(const CostScope& scope) { return matmul::product_flops(scope, kA); }

}  // namespace

MICA_OP(qlinear_matmul) = {
    .name = "qlinear_matmul",
    .doc = "8-bit matrix product; inputs a, a_scale, a_zero, b, b_scale, b_zero, y_scale, y_zero",
    .inputs = {8, 8},
    .infer = infer,
    .reference = reference,
    .flops = flops};

}  // namespace mica
