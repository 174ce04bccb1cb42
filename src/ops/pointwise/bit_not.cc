#include "ops/pointwise/bits_op.h"

namespace mica {
namespace {

Status reference(RunScope& scope) {
  MICA_TRY_STATUS(scope.allocate_output(0, scope.in(0).shape()));
  const Elements x(scope.in(0)), out(scope.out(0));
  const bool boolean = scope.in(0).dtype == DType::kBool;
  return pointwise::for_each_broadcast(scope, 1,
                                       [&](const int64_t* o, const int64_t* i, const int64_t*, const int64_t*) {
                                         out.set_integer_at(o, boolean ? !x.integer_at(i) : ~x.integer_at(i));
                                       });
}

}  // namespace

MICA_OP(bit_not) = {.name = "bit_not",
                    .doc = "every bit turned; of booleans: not",
                    .infer = pointwise::infer_bits,
                    .reference = reference,
                    .layout = LayoutRule::kAny,
                    .in_place = true};

}  // namespace mica
