#include "ops/matmul/product.h"
#include "types/dense.h"
#include "types/requantize.h"

namespace mica {
namespace {

Status infer(InferScope& scope) {
  MICA_TRY(const Shape shape, matmul::product_shape(scope, 0, 1));
  for (int i = 0; i < 2; ++i) {
    MICA_CHECK(is_byte(scope.dtype(i)), kBadType, "input {} must be i8 or u8, not {}", i, name_of(scope.dtype(i)));
    if (scope.has(i + 2)) MICA_TRY_STATUS(require_same_dtype(scope, i, i + 2));
  }
  scope.out(0, DType::kI32, shape);
  return {};
}

// Subtracts zero points: one for all; one for each row of A or column of B; or (with the operand's rank) one for each
// row or column of each matrix.
Status subtract_zeros(const RunScope& scope, int input, int64_t rows, int64_t columns, int64_t* numbers) {
  if (!scope.has(input + 2)) return {};
  const int64_t count = scope.in(input).count(), zeros = scope.in(input + 2).count();
  const bool by_row = input == 0;
  const int64_t line = by_row ? rows : columns, matrices = rows * columns > 0 ? count / (rows * columns) : 0;
  MICA_CHECK(zeros == 1 || zeros == line || zeros == line * matrices, kBadShape, "{} zero points for {} {}", zeros,
             line, by_row ? "rows" : "columns");
  const Elements elements(scope.in(input + 2));
  for (int64_t i = 0; i < count; ++i) {
    const int64_t matrix = i / (rows * columns), within = i % (rows * columns);
    const int64_t at = by_row ? within / columns : within % columns;
    numbers[i] -= elements.integer(zeros == 1 ? 0 : zeros == line ? at : matrix * line + at);
  }
  return {};
}

Status reference(RunScope& scope) {
  MICA_TRY(const matmul::Product p, matmul::product_of(scope.in(0).shape(), scope.in(1).shape()));
  MICA_TRY_STATUS(scope.allocate_output(0, p.out_dims()));
  MICA_TRY(int64_t * a, dense_integers(scope, scope.in(0)));
  MICA_TRY(int64_t * b, dense_integers(scope, scope.in(1)));
  MICA_TRY_STATUS(subtract_zeros(scope, 0, p.m, p.k, a));
  MICA_TRY_STATUS(subtract_zeros(scope, 1, p.k, p.n, b));
  MICA_TRY(int64_t * c, zero_integers(scope, scope.out(0).count()));
  MICA_TRY_STATUS(matmul::multiply(scope, p, a, b, c));
  store_dense(c, scope.out(0));
  return {};
}

int64_t flops(const CostScope& scope) { return matmul::product_flops(scope, 0); }

}  // namespace

MICA_OP(matmul_integer) = {
    .name = "matmul_integer",
    .doc = "matrix product of (a - a_zero) and (b - b_zero) in 32-bit integers; inputs a, b, a_zero, b_zero",
    .inputs = {2, 4},
    .infer = infer,
    .reference = reference,
    .flops = flops};

}  // namespace mica
