#include "ops/random/dropout.h"

#include "ops/random/mersenne.h"
#include "types/infer.h"

namespace mica {
namespace {

constexpr double kDefaultRatio = 0.5;

Status infer(InferScope& scope) {
  MICA_TRY_STATUS(require_float(scope, 0));
  scope.out(0, scope.type(0));
  scope.out(1, DType::kBool, scope.shape(0));
  return {};
}

Status reference(RunScope& scope) {
  const TensorView& x = scope.in(0);
  const bool training = scope.has(2) && Elements(scope.in(2)).number(0) != 0;
  const double ratio = scope.has(1) ? Elements(scope.in(1)).number(0) : kDefaultRatio;
  MICA_CHECK(!training || (ratio >= 0 && ratio <= 1), kBadValue, "a share of {} cannot be dropped", ratio);
  MICA_TRY_STATUS(scope.allocate_output(0, x.shape()));
  MICA_TRY_STATUS(scope.allocate_output(1, x.shape()));
  random::Mersenne generator(static_cast<uint64_t>(scope.attributes<Dropout>().seed));
  const bool drops = training && ratio > 0;
  for (int64_t i = 0, n = x.count(); i < n; ++i) {
    const bool kept = !drops || generator.uniform() >= ratio;
    const double value = Elements(x).number(i);
    if (scope.wants(0)) Elements(scope.out(0)).set_number(i, !drops ? value : kept ? value / (1 - ratio) : 0);
    if (scope.wants(1)) Elements(scope.out(1)).set_integer(i, kept);
  }
  return {};
}

}  // namespace

MICA_OP(dropout) = {
    .name = "dropout",
    .doc =
        "inputs: data, ratio, training (bool). In training each element is zero with probability `ratio`, else "
        "scaled by 1 / (1 - ratio); otherwise the data. Output 1: which were kept",
    .inputs = {1, 3},
    .outputs = {1, 2},
    .attributes = attr_class<Dropout>(),
    .infer = infer,
    .reference = reference,
    .random = true};

}  // namespace mica
