#include "ops/pointwise/bit_shift.h"

#include "ops/pointwise/bits_op.h"

namespace mica {
namespace {

Status infer(InferScope& scope) {
  MICA_CHECK(is_integer(scope.dtype(0)), kBadType, "input 0 must hold integers, not {}", name_of(scope.dtype(0)));
  return infer_pointwise(scope);
}

// Bits shifted out are lost; what comes in from the left is the sign. A distance outside 0 ... bits - 1 leaves the sign
// alone.
Status reference(RunScope& scope) {
  MICA_TRY_STATUS(pointwise::allocate_broadcast(scope, 2));
  const DType dtype = scope.in(0).dtype;
  const bool left = scope.attributes<BitShift>().left, has_sign = kind_of(dtype) == NumberKind::kSigned;
  const uint64_t width = static_cast<uint64_t>(bits_of(dtype));
  const Elements x(scope.in(0)), y(scope.in(1)), out(scope.out(0));
  return pointwise::for_each_broadcast(
      scope, 2, [&](const int64_t* o, const int64_t* i, const int64_t* j, const int64_t*) {
        const int64_t value = x.integer_at(i);
        const auto distance = static_cast<uint64_t>(y.integer_at(j));
        int64_t result = !left && has_sign && value < 0 ? -1 : 0;
        if (distance < width && left)
          result = static_cast<int64_t>(static_cast<uint64_t>(value) << distance);
        else if (distance < width)
          result = has_sign ? value >> distance : static_cast<int64_t>(static_cast<uint64_t>(value) >> distance);
        out.set_integer_at(o, result);
      });
}

}  // namespace

MICA_OP(bit_shift) = {.name = "bit_shift",
                      .doc = "x shifted by y bits; signed x keeps its sign on the way right",
                      .inputs = {2, 2},
                      .attributes = attr_class<BitShift>(),
                      .infer = infer,
                      .reference = reference,
                      .layout = LayoutRule::kAny,
                      .in_place = true};

}  // namespace mica
