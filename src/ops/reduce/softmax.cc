#include "ops/reduce/softmax.h"

#include <cmath>

#include "ops/reduce/softmax_op.h"

namespace mica {
namespace {

Status reference(RunScope& scope) {
  return reduce::for_each_row(scope, [](int64_t n, auto load, auto store) {
    double largest = -INFINITY, sum = 0;
    for (int64_t i = 0; i < n; ++i) largest = std::fmax(largest, load(i));
    for (int64_t i = 0; i < n; ++i) sum += std::exp(load(i) - largest);
    for (int64_t i = 0; i < n; ++i) store(i, std::exp(load(i) - largest) / sum);
  });
}

int64_t flops(const CostScope& scope) {
  auto n = element_count(scope.inputs[0].shape);
  return n.ok() ? 4 * *n : 0;
}

}  // namespace

MICA_OP(softmax) = {.name = "softmax",
                    .doc = "exp(x - max) / sum of those along `axis`",
                    .attributes = attr_class<Softmax>(),
                    .infer = reduce::infer_softmax,
                    .reference = reference,
                    .flops = flops,
                    .in_place = true};

}  // namespace mica
