#include "ops/matmul/product.h"
#include "types/dense.h"

namespace mica {
namespace {

Status infer(InferScope& scope) {
  MICA_TRY(const Shape shape, matmul::product_shape(scope, 0, 1));
  MICA_TRY_STATUS(require_same_dtype(scope, 0, 1));
  MICA_CHECK(is_float(scope.dtype(0)) || is_integer(scope.dtype(0)), kBadType, "a matrix product of {}",
             name_of(scope.dtype(0)));
  scope.out(0, scope.dtype(0), shape);
  return {};
}

Status reference(RunScope& scope) {
  MICA_TRY(const matmul::Product p, matmul::product_of(scope.in(0).shape(), scope.in(1).shape()));
  MICA_TRY_STATUS(scope.allocate_output(0, p.out_dims()));
  const int64_t count = scope.out(0).count();
  if (is_float(scope.in(0).dtype)) {
    MICA_TRY(const double* a, dense_numbers(scope, scope.in(0)));
    MICA_TRY(const double* b, dense_numbers(scope, scope.in(1)));
    MICA_TRY(double* c, zero_numbers(scope, count));
    MICA_TRY_STATUS(matmul::multiply(scope, p, a, b, c));
    store_dense(c, scope.out(0));
    return {};
  }
  MICA_TRY(const int64_t* a, dense_integers(scope, scope.in(0)));
  MICA_TRY(const int64_t* b, dense_integers(scope, scope.in(1)));
  MICA_TRY(int64_t * c, zero_integers(scope, count));
  MICA_TRY_STATUS(matmul::multiply(scope, p, a, b, c));
  store_dense(c, scope.out(0));
  return {};
}

int64_t flops(const CostScope& scope) { return matmul::product_flops(scope, 0); }

}  // namespace

MICA_OP(matmul) = {.name = "matmul",
                   .doc = "matrix product over the last two axes; the others broadcast",
                   .inputs = {2, 2},
                   .infer = infer,
                   .reference = reference,
                   .flops = flops};

}  // namespace mica
