// Constants that hold one number many times: zeros and ones in the shape of something, folded.
#include <cstring>

#include "passes/declutter/contents.h"
#include "passes/rewrite.h"

namespace mica {

MICA_DECLARE_OP(add);
MICA_DECLARE_OP(div);
MICA_DECLARE_OP(equal);
MICA_DECLARE_OP(greater);
MICA_DECLARE_OP(greater_or_equal);
MICA_DECLARE_OP(less);
MICA_DECLARE_OP(less_or_equal);
MICA_DECLARE_OP(max);
MICA_DECLARE_OP(min);
MICA_DECLARE_OP(mul);
MICA_DECLARE_OP(pow);
MICA_DECLARE_OP(sub);
MICA_DECLARE_OP(where);

namespace {

constexpr int64_t kMany = 1024;  // elements: rules look for short vectors as they are

// The first element, when all others have the same bits.
Value* number_of(Value* value, Builder& build) {
  const TensorView& view = value->constant->view;
  if (view.count() < kMany || !view.contiguous() || is_sub_byte(view.dtype) || view.dtype == DType::kString)
    return nullptr;
  const auto size = static_cast<size_t>(element_bytes(view.dtype));
  const char* data = view.as<char>();
  if (std::memcmp(data, data + size, size * static_cast<size_t>(view.count() - 1)) != 0) return nullptr;
  return build.constant(view.dtype, {}, view.data);
}

// The other operands must have the result's shape without it.
template <int kInput>
Value* with_number(const Match& m, Builder& build) {
  const Type& result = m.root->outputs[0]->type;
  Values inputs = m.root->inputs;
  bool shaped = false;
  for (size_t i = 0; i < inputs.size(); ++i)
    shaped = shaped || (i != kInput && result.shape.known() && inputs[i]->type.shape == result.shape);
  if (!shaped) return nullptr;
  Value* number = number_of(inputs[kInput], build);
  if (!number) return nullptr;
  inputs[kInput] = number;
  return build.again(*m.root, inputs);
}

std::vector<Rule> make() {
  std::vector<Rule> rules;
  constexpr std::string_view kDoc = "f(x, numbers that are all c) → f(x, c)";
  for (const OpDef* op : {&op_add, &op_sub, &op_mul, &op_div, &op_min, &op_max, &op_pow, &op_equal, &op_greater,
                          &op_greater_or_equal, &op_less, &op_less_or_equal}) {
    rules.push_back({"uniform-is-number", kDoc, is(*op, {constant("c"), any("x")}), with_number<0>});
    rules.push_back({"uniform-is-number", kDoc, is(*op, {any("x"), constant("c")}), with_number<1>});
  }
  rules.push_back({"uniform-is-number", kDoc, is(op_where, {any("p"), constant("c"), any("x")}), with_number<1>});
  rules.push_back({"uniform-is-number", kDoc, is(op_where, {any("p"), any("x"), constant("c")}), with_number<2>});
  return rules;
}

}  // namespace

MICA_RULES(uniform) = {.rank = 0, .make = make};

}  // namespace mica
