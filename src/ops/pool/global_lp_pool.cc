#include <cmath>
#include <limits>

#include "ops/pool/global_pool.h"

namespace mica {
namespace {

Status reference(RunScope& scope) {
  const auto p = static_cast<double>(scope.attributes<GlobalLpPool>().p);
  MICA_CHECK(p > 0, kBadAttribute, "`p` is {}, expected at least 1", p);
  return pool::run_global(scope, [p](const double* x, int64_t count) {
    double sum = 0;
    for (int64_t i = 0; i < count; ++i) sum += std::pow(std::fabs(x[i]), p);
    return std::pow(sum, 1 / p);
  });
}

}  // namespace

MICA_OP(global_lp_pool) = {.name = "global_lp_pool",
                           .doc = "p-norm of each plane of x [N,C,...]",
                           .attributes = attr_class<GlobalLpPool>(),
                           .infer = pool::infer_global,
                           .reference = reference,
                           .flops = pool::global_flops,
                           .layout = LayoutRule::kChannelsLast};

}  // namespace mica
