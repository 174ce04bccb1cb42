#include "ops/reduce/softmax.h"

#include <cmath>

#include "ops/reduce/softmax_op.h"

namespace mica {
namespace {

Status reference(RunScope& scope) {
  const bool zero_nan = scope.attributes<Softmax>().zero_nan;
  return reduce::for_each_row(scope, [zero_nan](int64_t n, auto load, auto store) {
    const reduce::SoftmaxSum s = reduce::softmax_sum(n, load);
    const bool zero = zero_nan && std::isnan(s.sum);
    for (int64_t i = 0; i < n; ++i) store(i, zero ? 0 : std::exp(load(i) - s.largest) / s.sum);
  });
}

}  // namespace

MICA_OP(softmax) = {.name = "softmax",
                    .doc = "exp(x - max) / sum of those along `axis`",
                    .attributes = attr_class<Softmax>(),
                    .infer = reduce::infer_softmax,
                    .reference = reference,
                    .flops = reduce::softmax_flops,
                    .in_place = true};

}  // namespace mica
