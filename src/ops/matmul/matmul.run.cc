#include "ops/matmul/product_step.h"

namespace mica {
namespace {

Result<bool> bind(BindScope& scope) { return matmul::bind_product(scope, {}); }

}  // namespace

MICA_RUN(matmul) = {.bind = bind};

}  // namespace mica
