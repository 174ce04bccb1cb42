#include <cmath>

#include "ops/reduce/softmax_op.h"

namespace mica {
namespace {

Status reference(RunScope& scope) {
  return reduce::for_each_row(scope, [](int64_t n, auto load, auto store) {
    double largest = -INFINITY, sum = 0;
    for (int64_t i = 0; i < n; ++i) largest = std::fmax(largest, load(i));
    for (int64_t i = 0; i < n; ++i) sum += std::exp(load(i) - largest);
    const double log_sum = std::log(sum);
    for (int64_t i = 0; i < n; ++i) store(i, load(i) - largest - log_sum);
  });
}

int64_t flops(const CostScope& scope) {
  auto n = element_count(scope.inputs[0].shape);
  return n.ok() ? 4 * *n : 0;
}

}  // namespace

MICA_OP(log_softmax) = {.name = "log_softmax",
                        .doc = "the logarithm of softmax",
                        .attributes = attr_class<Softmax>(),
                        .infer = reduce::infer_softmax,
                        .reference = reference,
                        .flops = flops,
                        .in_place = true};

}  // namespace mica
