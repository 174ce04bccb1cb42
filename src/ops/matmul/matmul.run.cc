#include "ops/matmul/product_step.h"

namespace mica {
namespace {

Result<bool> bind(BindScope& scope) { return matmul::bind_product(scope, {}); }

bool takes_residual(const BindScope& scope) { return matmul::takes_residual(scope, false, false); }

void forms(const BindScope& scope, FormOptions& options) { matmul::forms(scope, false, false, options); }

}  // namespace

MICA_RUN(matmul) = {.bind = bind, .takes_residual = takes_residual, .forms = kWithForms ? forms : nullptr};

}  // namespace mica
