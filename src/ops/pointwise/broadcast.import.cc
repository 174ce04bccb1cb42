// How element-wise operators of several operands are spelled, with the one-sided broadcasting of the oldest versions.
#include <algorithm>

#include "ir/spelling.h"
#include "ops/pointwise/bit_cast.h"
#include "ops/pointwise/bit_shift.h"
#include "ops/pointwise/cast.h"
#include "ops/pointwise/is_inf.h"

namespace mica {

MICA_DECLARE_OP(add);
MICA_DECLARE_OP(bit_and);
MICA_DECLARE_OP(bit_cast);
MICA_DECLARE_OP(bit_not);
MICA_DECLARE_OP(bit_or);
MICA_DECLARE_OP(bit_shift);
MICA_DECLARE_OP(bit_xor);
MICA_DECLARE_OP(cast);
MICA_DECLARE_OP(div);
MICA_DECLARE_OP(equal);
MICA_DECLARE_OP(greater);
MICA_DECLARE_OP(greater_or_equal);
MICA_DECLARE_OP(identity);
MICA_DECLARE_OP(is_inf);
MICA_DECLARE_OP(is_nan);
MICA_DECLARE_OP(less);
MICA_DECLARE_OP(less_or_equal);
MICA_DECLARE_OP(mul);
MICA_DECLARE_OP(pow);
MICA_DECLARE_OP(prelu);
MICA_DECLARE_OP(sub);
MICA_DECLARE_OP(unsqueeze);
MICA_DECLARE_OP(where);

namespace {

// `value` with `count` axes of 1 appended.
Value* with_trailing_axes(Builder& build, Value* value, int count) {
  std::vector<int64_t> axes;
  for (int i = 0; i < count; ++i) axes.push_back(value->type.shape.rank + i);
  return count > 0 ? build.one(op_unsqueeze, {value, build.ints(axes)}) : value;
}

void require_ranks(const Value& a, const Value& b) {
  if (!a.type.shape.known() || !b.type.shape.known())
    fail(Code::kUnsupportedOperator, "broadcasting along `axis` needs operands of known rank");
}

template <const OpDef& op>
Values binary(const SourceNode& node, Builder& build) {
  return build.add(op, {node.input(0), node.input(1)}, 1);
}

// Versions 1 to 6: the second operand fits a run of the first one's axes that begins at `axis`; without one, the last
// axes.
template <const OpDef& op>
Values binary_along_axis(const SourceNode& node, Builder& build) {
  node.ignore("consumed_inputs");
  Value *a = node.input(0), *b = node.input(1);
  if (node.integer("broadcast", 0) && node.has("axis")) {
    require_ranks(*a, *b);
    const int rank = a->type.shape.rank;
    const int axis = value_or_throw([&]() -> Result<int> {
      const int64_t given = node.integer("axis");
      MICA_CHECK(given >= -rank && given < rank, kBadAttribute, "`axis` is {}, outside the {} dimensions of the input",
                 given, rank);
      return static_cast<int>(given < 0 ? given + rank : given);
    }());
    b = with_trailing_axes(build, b, rank - axis - b->type.shape.rank);
  }
  node.ignore("axis");
  return build.add(op, {a, b}, 1);
}

// Versions 1 and 6: one slope, or one per channel, which is axis 1.
Values prelu_by_channel(const SourceNode& node, Builder& build) {
  node.ignore("consumed_inputs");
  Value *x = node.input(0), *slope = node.input(1);
  const Shape &from = slope->type.shape, &to = x->type.shape;
  if (from.known() && to.known() && from.rank == 1 && to.rank > 2 && !from[0].is(1))
    slope = with_trailing_axes(build, slope, to.rank - 2);
  return build.add(op_prelu, {x, slope}, 1);
}

Values bit_shift(const SourceNode& node, Builder& build) {
  const std::string direction = node.text("direction", "");
  if (direction != "LEFT" && direction != "RIGHT")
    fail(Code::kBadAttribute, "attribute `direction` is `{}`, expected LEFT or RIGHT", direction);
  return build.add(op_bit_shift, BitShift{.left = direction == "LEFT"}, node.inputs, 1);
}

Values is_inf(const SourceNode& node, Builder& build) {
  const IsInf attributes{.negative = node.integer("detect_negative", 1) != 0,
                         .positive = node.integer("detect_positive", 1) != 0};
  return build.add(op_is_inf, attributes, node.inputs, 1);
}

DType target_type(const SourceNode& node) {
  const SourceAttribute* to = node.find("to");
  // Version 1 names the type.
  if (to && to->kind == SourceAttribute::Kind::kText) {
    constexpr struct {
      std::string_view name;
      DType dtype;
    } kNames[] = {{"FLOAT", DType::kF32}, {"UINT8", DType::kU8},    {"INT8", DType::kI8},    {"UINT16", DType::kU16},
                  {"INT16", DType::kI16}, {"INT32", DType::kI32},   {"INT64", DType::kI64},  {"STRING", DType::kString},
                  {"BOOL", DType::kBool}, {"FLOAT16", DType::kF16}, {"DOUBLE", DType::kF64}, {"UINT32", DType::kU32},
                  {"UINT64", DType::kU64}};
    for (const auto& row : kNames)
      if (row.name == to->text) return row.dtype;
    fail(Code::kBadAttribute, "attribute `to` is `{}`, which is no element type", to->text);
  }
  const int64_t code = node.integer("to");
  const DType dtype = source_dtype(node.format, code);
  if (dtype == DType::kNone) fail(Code::kBadAttribute, "attribute `to` is {}, which is no element type", code);
  return dtype;
}

Values cast_to(const SourceNode& node, Builder& build, DType to) {
  Cast attributes{.to = to, .saturate = node.integer("saturate", 1) != 0};
  const std::string mode = node.text("round_mode", "up");
  const auto found = std::ranges::find(kE8m0RoundNames, mode);
  if (found == std::end(kE8m0RoundNames))
    fail(Code::kBadAttribute, "attribute `round_mode` is `{}`, expected up, down or nearest", mode);
  attributes.round_mode = static_cast<E8m0Round>(found - std::begin(kE8m0RoundNames));
  return build.add(op_cast, attributes, {node.input(0)}, 1);
}
Values cast(const SourceNode& node, Builder& build) { return cast_to(node, build, target_type(node)); }
Values cast_like(const SourceNode& node, Builder& build) { return cast_to(node, build, node.input(1)->type.dtype); }

Values bit_cast(const SourceNode& node, Builder& build) {
  return build.add(op_bit_cast, BitCast{.to = target_type(node)}, node.inputs, 1);
}

Values identity(const SourceNode& node, Builder& build) { return build.add(op_identity, node.inputs, 1); }

}  // namespace

MICA_SPELLINGS(
    broadcast, {Format::kOnnx, "", "Add", 1, 6, binary_along_axis<op_add>},
    {Format::kOnnx, "", "Add", 7, kLatest, binary<op_add>},
    {Format::kOnnx, "", "And", 1, 6, binary_along_axis<op_bit_and>},
    {Format::kOnnx, "", "And", 7, kLatest, binary<op_bit_and>}, {Format::kOnnx, "", "BitCast", 26, kLatest, bit_cast},
    {Format::kOnnx, "", "BitShift", 11, kLatest, bit_shift},
    {Format::kOnnx, "", "BitwiseAnd", 18, kLatest, binary<op_bit_and>},
    {Format::kOnnx, "", "BitwiseNot", 18, kLatest, direct<op_bit_not>},
    {Format::kOnnx, "", "BitwiseOr", 18, kLatest, binary<op_bit_or>},
    {Format::kOnnx, "", "BitwiseXor", 18, kLatest, binary<op_bit_xor>}, {Format::kOnnx, "", "Cast", 1, kLatest, cast},
    {Format::kOnnx, "", "CastLike", 15, kLatest, cast_like},
    {Format::kOnnx, "", "Div", 1, 6, binary_along_axis<op_div>}, {Format::kOnnx, "", "Div", 7, kLatest, binary<op_div>},
    {Format::kOnnx, "", "Equal", 1, 6, binary_along_axis<op_equal>},
    {Format::kOnnx, "", "Equal", 7, kLatest, binary<op_equal>},
    {Format::kOnnx, "", "Greater", 1, 6, binary_along_axis<op_greater>},
    {Format::kOnnx, "", "Greater", 7, kLatest, binary<op_greater>},
    {Format::kOnnx, "", "GreaterOrEqual", 12, kLatest, binary<op_greater_or_equal>},
    {Format::kOnnx, "", "Identity", 1, kLatest, identity}, {Format::kOnnx, "", "IsInf", 10, kLatest, is_inf},
    {Format::kOnnx, "", "IsNaN", 9, kLatest, direct<op_is_nan>},
    {Format::kOnnx, "", "Less", 1, 6, binary_along_axis<op_less>},
    {Format::kOnnx, "", "Less", 7, kLatest, binary<op_less>},
    {Format::kOnnx, "", "LessOrEqual", 12, kLatest, binary<op_less_or_equal>},
    {Format::kOnnx, "", "Mul", 1, 6, binary_along_axis<op_mul>}, {Format::kOnnx, "", "Mul", 7, kLatest, binary<op_mul>},
    {Format::kOnnx, "", "Not", 1, kLatest, direct<op_bit_not>},
    {Format::kOnnx, "", "Or", 1, 6, binary_along_axis<op_bit_or>},
    {Format::kOnnx, "", "Or", 7, kLatest, binary<op_bit_or>},
    {Format::kOnnx, "", "Pow", 1, 6, binary_along_axis<op_pow>}, {Format::kOnnx, "", "Pow", 7, kLatest, binary<op_pow>},
    {Format::kOnnx, "", "PRelu", 1, 6, prelu_by_channel}, {Format::kOnnx, "", "PRelu", 7, kLatest, binary<op_prelu>},
    {Format::kOnnx, "", "Sub", 1, 6, binary_along_axis<op_sub>}, {Format::kOnnx, "", "Sub", 7, kLatest, binary<op_sub>},
    {Format::kOnnx, "", "Where", 9, kLatest, direct<op_where>},
    {Format::kOnnx, "", "Xor", 1, 6, binary_along_axis<op_bit_xor>},
    {Format::kOnnx, "", "Xor", 7, kLatest, binary<op_bit_xor>});

}  // namespace mica
