#include <cmath>

#include "ops/reduce/softmax_op.h"

namespace mica {
namespace {

Status reference(RunScope& scope) {
  return reduce::for_each_row(scope, [](int64_t n, auto load, auto store) {
    const reduce::SoftmaxSum s = reduce::softmax_sum(n, load);
    const double log_sum = std::log(s.sum);
    for (int64_t i = 0; i < n; ++i) store(i, load(i) - s.largest - log_sum);
  });
}

}  // namespace

MICA_OP(log_softmax) = {.name = "log_softmax",
                        .doc = "the logarithm of softmax",
                        .attributes = attr_class<Softmax>(),
                        .infer = reduce::infer_softmax,
                        .reference = reference,
                        .flops = reduce::softmax_flops,
                        .in_place = true};

}  // namespace mica
