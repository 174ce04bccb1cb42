#include "ops/pointwise/bit_cast.h"

#include "ops/pointwise/broadcast.h"

namespace mica {
namespace {

Status infer(InferScope& scope) {
  MICA_TRY_STATUS(require_tensor(scope, 0));
  const DType from = scope.dtype(0), to = scope.attributes<BitCast>().to;
  const bool fits =
      from != DType::kString && to != DType::kString && to != DType::kNone && bits_of(from) == bits_of(to);
  MICA_CHECK(fits, kBadType, "{} and {} are not equally wide", name_of(from), name_of(to));
  scope.out(0, to, scope.shape(0));
  return {};
}

Status reference(RunScope& scope) {
  TensorView x = scope.in(0);
  MICA_TRY_STATUS(scope.allocate_output(0, x.shape()));
  x.dtype = scope.out(0).dtype;
  copy_elements(x, scope.out(0));
  return {};
}

bool view(const RunScope& scope, const TensorView& in, TensorView& out, int) {
  out = in;
  out.dtype = scope.attributes<BitCast>().to;
  return true;
}

}  // namespace

MICA_OP(bit_cast) = {.name = "bit_cast",
                     .doc = "the same bits as another type of the same width",
                     .attributes = attr_class<BitCast>(),
                     .infer = infer,
                     .reference = reference,
                     .view = view,
                     .layout = LayoutRule::kAny};

}  // namespace mica
