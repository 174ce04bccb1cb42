#include "ops/conv/conv.h"

#include "types/dense.h"

namespace mica {
namespace {

Status infer(InferScope& scope) {
  MICA_TRY_STATUS(require_float(scope, 0));
  MICA_TRY_STATUS(require_same_dtype(scope, 0, 1));
  MICA_TRY(const Shape shape, conv::output_shape(scope, scope.attributes<Conv>(), 0, 1));
  MICA_TRY_STATUS(conv::require_bias(scope, 0, shape));
  scope.out(0, scope.dtype(0), shape);
  return {};
}

Status reference(RunScope& scope) {
  MICA_TRY(const conv::Sizes s, conv::sizes_of(scope.attributes<Conv>(), scope.in(0), scope.in(1)));
  MICA_TRY_STATUS(conv::allocate(scope, s, scope.in(0).rank));
  MICA_TRY(const double* x, dense_numbers(scope, scope.in(0)));
  return conv::convolve(scope, s, x);
}

}  // namespace

MICA_OP(conv) = {.name = "conv",
                 .doc = "convolution of x [N,C,...] with w [M,C/groups,...], plus a bias [M]",
                 .inputs = {2, 3},
                 .attributes = attr_class<Conv>(),
                 .infer = infer,
                 .reference = reference,
                 .flops = conv::flops,
                 .layout = LayoutRule::kChannelsLast};

}  // namespace mica
