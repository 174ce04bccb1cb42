// What element-wise operators of one or two operands share: an operator is its name, its text and its Pointwise
// function.
#pragma once
#include "types/infer.h"

namespace mica {

// Parameters of element-wise functions; what they mean is said at each Pointwise value: alpha is its a, beta its b.
struct UnaryParameters {
  float alpha = 0, beta = 0;
  template <class V>
  void visit(V&& v) {
    v("alpha", alpha, "first parameter of the function");
    v("beta", beta, "second parameter of the function, where it has one");
  }
};

namespace pointwise {

template <const OpDef& op>
Status refer(RunScope& scope) {
  return reference_pointwise(scope, op);
}

inline Status require_number(const InferScope& scope, int input) {
  MICA_TRY_STATUS(require_tensor(scope, input));
  const NumberKind kind = kind_of(scope.dtype(input));
  const bool number = kind == NumberKind::kFloat || kind == NumberKind::kSigned || kind == NumberKind::kUnsigned;
  MICA_CHECK(number, kBadType, "input {} must be a tensor of numbers, not {}", input, name_of(scope.dtype(input)));
  return {};
}
inline Status infer_float(InferScope& scope) {
  MICA_TRY_STATUS(require_float(scope, 0));
  return infer_same(scope);
}
inline Status infer_number(InferScope& scope) {
  MICA_TRY_STATUS(require_number(scope, 0));
  return infer_same(scope);
}
inline Status infer_binary(InferScope& scope) {
  MICA_TRY_STATUS(require_number(scope, 0));
  return infer_pointwise(scope);
}
inline void unary_parameters(const void* attributes, float& a, float& b) {
  const auto& p = *static_cast<const UnaryParameters*>(attributes);
  a = p.alpha;
  b = p.beta;
}

// A function of floating-point elements.
template <const OpDef& op>
constexpr OpDef unary(std::string_view name, std::string_view doc, Pointwise f) {
  return {.name = name,
          .doc = doc,
          .infer = infer_float,
          .reference = refer<op>,
          .layout = LayoutRule::kAny,
          .pointwise = f,
          .in_place = true};
}
// The same with UnaryParameters.
template <const OpDef& op>
constexpr OpDef parametric(std::string_view name, std::string_view doc, Pointwise f) {
  OpDef def = unary<op>(name, doc, f);
  def.attributes = attr_class<UnaryParameters>();
  def.parameters = unary_parameters;
  return def;
}
// A function of elements of any numeric type.
template <const OpDef& op>
constexpr OpDef unary_number(std::string_view name, std::string_view doc, Pointwise f, DimRule rule = DimRule::kNone) {
  OpDef def = unary<op>(name, doc, f);
  def.infer = infer_number;
  def.dim_rule = rule;
  return def;
}
// A function of two broadcast operands of one numeric type.
template <const OpDef& op>
constexpr OpDef binary(std::string_view name, std::string_view doc, Pointwise f, DimRule rule = DimRule::kNone) {
  OpDef def = unary_number<op>(name, doc, f, rule);
  def.inputs = {2, 2};
  def.infer = infer_binary;
  return def;
}

}  // namespace pointwise
}  // namespace mica
