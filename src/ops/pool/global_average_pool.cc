#include <cmath>
#include <limits>

#include "ops/pool/global_pool.h"

namespace mica {
namespace {

Status reference(RunScope& scope) {
  return pool::run_global(scope, [](const double* x, int64_t count) {
    double sum = 0;
    for (int64_t i = 0; i < count; ++i) sum += x[i];
    return sum / static_cast<double>(count);
  });
}

}  // namespace

MICA_OP(global_average_pool) = {.name = "global_average_pool",
                                .doc = "mean of each plane of x [N,C,...]",
                                .infer = pool::infer_global,
                                .reference = reference,
                                .flops = pool::global_flops,
                                .layout = LayoutRule::kChannelsLast};

}  // namespace mica
