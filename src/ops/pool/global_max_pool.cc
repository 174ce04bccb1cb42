#include <cmath>
#include <limits>

#include "ops/pool/global_pool.h"

namespace mica {
namespace {

Status reference(RunScope& scope) {
  return pool::run_global(scope, [](const double* x, int64_t count) {
    double best = -std::numeric_limits<double>::infinity();
    for (int64_t i = 0; i < count && !std::isnan(best); ++i)
      if (!(x[i] <= best)) best = x[i];  // also when it is NaN
    return best;
  });
}

}  // namespace

MICA_OP(global_max_pool) = {.name = "global_max_pool",
                            .doc = "largest element of each plane of x [N,C,...]",
                            .infer = pool::infer_global,
                            .reference = reference,
                            .flops = pool::global_flops,
                            .layout = LayoutRule::kChannelsLast};

}  // namespace mica
