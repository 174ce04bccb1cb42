#include "types/infer.h"

namespace mica {
namespace {

Status infer(InferScope& scope) {
  MICA_CHECK(scope.has(0), kBadModel, "input 0 is missing");
  return infer_same(scope);
}

Status reference(RunScope& scope) {
  if (const Object* object = scope.inputs[0].object) {
    MICA_TRY(Object copy, object->copy());
    scope.out_object(0) = std::move(copy);
    return {};
  }
  MICA_TRY_STATUS(scope.allocate_output(0, scope.in(0).shape()));
  copy_elements(scope.in(0), scope.out(0));
  return {};
}

bool view(const RunScope&, const TensorView& in, TensorView& out, int) {
  out = in;
  return true;
}

}  // namespace

MICA_OP(identity) = {.name = "identity",
                     .doc = "the same value",
                     .infer = infer,
                     .reference = reference,
                     .view = view,
                     .dim_rule = DimRule::kCopy,
                     .layout = LayoutRule::kAny,
                     .pointwise = Pointwise::kIdentity,
                     .takes_objects = true,
                     .in_place = true};

}  // namespace mica
