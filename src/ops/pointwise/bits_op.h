// What bitwise operators share. Booleans are one bit wide.
#pragma once
#include "ops/pointwise/broadcast.h"

namespace mica::pointwise {

inline Status require_bits(const InferScope& scope, int input) {
  MICA_TRY_STATUS(require_tensor(scope, input));
  MICA_CHECK(is_integer(scope.dtype(input)) || scope.dtype(input) == DType::kBool, kBadType,
             "input {} must hold integers or booleans, not {}", input, name_of(scope.dtype(input)));
  return {};
}
inline Status infer_bits(InferScope& scope) {
  MICA_TRY_STATUS(require_bits(scope, 0));
  return infer_pointwise(scope);
}

template <class F>
Status refer_bits(RunScope& scope, F&& f) {
  MICA_TRY_STATUS(allocate_broadcast(scope, 2));
  const Elements x(scope.in(0)), y(scope.in(1)), out(scope.out(0));
  return for_each_broadcast(scope, 2, [&](const int64_t* o, const int64_t* i, const int64_t* j, const int64_t*) {
    const uint64_t bits = f(static_cast<uint64_t>(x.integer_at(i)), static_cast<uint64_t>(y.integer_at(j)));
    out.set_integer_at(o, static_cast<int64_t>(bits));
  });
}

constexpr OpDef bitwise(Status (*reference)(RunScope&), std::string_view name, std::string_view doc) {
  return {.name = name,
          .doc = doc,
          .inputs = {2, 2},
          .infer = infer_bits,
          .reference = reference,
          .layout = LayoutRule::kAny,
          .in_place = true};
}

}  // namespace mica::pointwise
