#include "ops/random/draw.h"
#include "ops/random/mersenne.h"
#include "types/infer.h"

namespace mica {
namespace {

Status infer(InferScope& scope) {
  MICA_TRY_STATUS(require_float(scope, 0));
  const DType dtype = scope.attributes<Draw>().dtype;
  scope.out(0, dtype == DType::kNone ? scope.dtype(0) : dtype, scope.shape(0));
  return {};
}

Status reference(RunScope& scope) {
  MICA_TRY_STATUS(scope.allocate_output(0, scope.in(0).shape()));
  random::Mersenne generator(static_cast<uint64_t>(scope.attributes<Draw>().seed));
  const Elements in(scope.in(0)), out(scope.out(0));
  for (int64_t i = 0, n = scope.out(0).count(); i < n; ++i) out.set_integer(i, generator.uniform() < in.number(i));
  return {};
}

}  // namespace

MICA_OP(bernoulli) = {.name = "bernoulli",
                      .doc = "1 with the probability that the input's element gives, else 0",
                      .attributes = attr_class<Draw>(),
                      .infer = infer,
                      .reference = reference,
                      .random = true};

}  // namespace mica
