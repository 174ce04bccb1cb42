#include "ops/matmul/product_step.h"

namespace mica {
namespace {

Result<bool> bind(BindScope& scope) { return matmul::bind_product(scope, {}); }

bool takes_residual(const BindScope& scope) { return matmul::takes_residual(scope, false, false); }

}  // namespace

MICA_RUN(matmul) = {.bind = bind, .takes_residual = takes_residual};

}  // namespace mica
