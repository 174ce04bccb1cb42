// Element-wise work on convolutions that stand side by side, as mixed kernels of several sizes have it: each takes its
// channels' part, which goes into its weights or its last step.
#include <algorithm>

#include "ops/move/concat.h"
#include "passes/declutter/contents.h"
#include "passes/rewrite.h"

namespace mica {

MICA_DECLARE_OP(add);
MICA_DECLARE_OP(concat);
MICA_DECLARE_OP(conv);
MICA_DECLARE_OP(conv_transpose);
MICA_DECLARE_OP(div);
MICA_DECLARE_OP(mul);
MICA_DECLARE_OP(sub);

namespace {

bool joins_convs(const Node& concat) {
  return std::ranges::all_of(concat.inputs, [](const Value* v) {
    return v->producer && (v->producer->op == &op_conv || v->producer->op == &op_conv_transpose);
  });
}

Value* before_function(const Match& m, Builder& build) {
  const Node& concat = m.node("concat");
  Values parts;
  for (Value* part : concat.inputs) parts.push_back(build.again(*m.root, {part}));
  return build.one(op_concat, concat.attributes<Concat>(), parts);
}

Value* before_constant(const Match& m, Builder& build) {
  const Node& concat = m.node("concat");
  const Shape& shape = concat.outputs[0]->type.shape;
  const int64_t axis = concat.attributes<Concat>().axis;
  if (!shape.known() || (axis < 0 ? axis + shape.rank : axis) != 1 || !shape[1].is_fixed() ||
      !(m.root->outputs[0]->type == concat.outputs[0]->type) || !contents::is_float(m["c"]))
    return nullptr;
  const std::vector<double> list = contents::along_axis(*m["c"], shape.rank, 1, shape[1].value());
  if (list.empty()) return nullptr;
  Values parts;
  std::span<const double> left = list;
  for (Value* part : concat.inputs) {
    const Shape& own = part->type.shape;
    if (!own.known() || !own[1].is_fixed() || own[1].value() > static_cast<int64_t>(left.size())) return nullptr;
    std::vector<int64_t> dims(static_cast<size_t>(shape.rank) - 1, 1);
    dims[0] = own[1].value();
    const auto count = static_cast<size_t>(dims[0]);
    Value* numbers = contents::constant(build, m["c"]->type.dtype, dims, left.first(count));
    left = left.subspan(count);
    parts.push_back(build.one(*m.root->op, {part, numbers}));
  }
  return build.one(op_concat, concat.attributes<Concat>(), parts);
}

std::vector<Rule> make() {
  const Pattern concat = is(op_concat, {any("first")}).rest().once().parts_once().where(joins_convs).as("concat");
  std::vector<Rule> rules;
  for (const auto& row : all_op())
    if (is_unary(*row.definition))
      rules.push_back({"function-before-concat", "f(concat(conv(x), …)) → concat(f(conv(x)), …)",
                       is(*row.definition, {concat}), before_function});
  for (const OpDef* op : {&op_mul, &op_add, &op_sub, &op_div}) {
    const Pattern pair = is(*op, {concat, constant("c")});
    const bool commutes = op == &op_mul || op == &op_add;
    rules.push_back({"constant-before-concat", "concat(conv(x), …)·s → concat(conv(x)·s₁, …)",
                     commutes ? pair.either() : pair, before_constant});
  }
  return rules;
}

}  // namespace

MICA_RULES(concats) = {.rank = 9, .make = make};

}  // namespace mica
