// Normalisations of groups of channels, as exporters without the operator spell them out: instances of a reshape.
#include "ops/norm/group_norm.h"
#include "ops/norm/instance_norm.h"
#include "passes/declutter/contents.h"
#include "passes/rewrite.h"

namespace mica {

MICA_DECLARE_OP(add);
MICA_DECLARE_OP(group_norm);
MICA_DECLARE_OP(instance_norm);
MICA_DECLARE_OP(mul);
MICA_DECLARE_OP(reshape);

namespace {

// The reshape leaves images alone and parts channels into groups; the other one takes that back.
Value* group_norm(const Match& m, Builder& build) {
  Value* x = m["x"];
  const Shape &from = x->type.shape, &grouped = m["grouped"]->type.shape;
  const bool known = from.known() && grouped.known() && from.rank >= 3 && grouped.rank == 3;
  if (!known || !from[1].is_fixed() || !grouped[1].is_fixed() || !(from[0] == grouped[0])) return nullptr;
  if (!(m.root->outputs[0]->type == x->type)) return nullptr;
  const int64_t groups = grouped[1].value(), channels = from[1].value();
  if (groups < 1 || channels % groups != 0) return nullptr;
  const Node& norm = m.node("norm");
  const GroupNorm attributes{.groups = groups, .epsilon = norm.attributes<InstanceNorm>().epsilon, .per_group = true};
  return build.one(op_group_norm, attributes, {x, norm.inputs[1], norm.inputs[2]});
}

// Numbers by channel: those of a group, or what multiplies or is added behind it.
std::vector<double> of_channels(const Value* by_group, int64_t channels) {
  std::vector<double> numbers;
  const std::vector<double> few = contents::numbers(*by_group);
  for (double number : few) numbers.insert(numbers.end(), static_cast<size_t>(channels) / few.size(), number);
  return numbers;
}

// group_norm(x, s, t) · k = group_norm(x, s · k, t · k); with + k instead, t + k.
template <bool kScale>
Value* into_group_norm(const Match& m, Builder& build) {
  const Node& norm = m.node("norm");
  const Type& x = m["norm"]->type;
  if (!(m.root->outputs[0]->type == x) || m["k"]->type.dtype != x.dtype || !x.shape.known() || !x.shape[1].is_fixed())
    return nullptr;
  const int64_t channels = x.shape[1].value();
  const std::vector<double> k = contents::along_axis(*m["k"], x.shape.rank, 1, channels);
  if (k.empty()) return nullptr;
  std::vector<double> scale = of_channels(norm.inputs[1], channels), bias = of_channels(norm.inputs[2], channels);
  for (size_t i = 0; i < k.size(); ++i) {
    if (kScale) scale[i] *= k[i];
    bias[i] = kScale ? bias[i] * k[i] : bias[i] + k[i];
  }
  GroupNorm attributes = norm.attributes<GroupNorm>();
  attributes.per_group = false;
  const int64_t dims[] = {channels};
  return build.one(op_group_norm, attributes,
                   {norm.inputs[0], contents::constant(build, x.dtype, dims, scale),
                    contents::constant(build, x.dtype, dims, bias)});
}

std::vector<Rule> make() {
  const Pattern instances =
      is(op_instance_norm, {is(op_reshape, {any("x"), any("")}).as("grouped"), constant(""), constant("")})
          .once()
          .as("norm");
  const Pattern norm = is(op_group_norm, {any("x"), constant(""), constant("")}).once().as("norm");
  return {{"recognise-group-norm", "reshape(instance_norm(reshape(x))) → group_norm(x)",
           is(op_reshape, {instances, any("")}), group_norm},
          {"scale-into-group-norm", "group_norm(x, s, t) · k → group_norm(x, s · k, t · k)",
           is(op_mul, {norm, constant("k")}).either(), into_group_norm<true>},
          {"shift-into-group-norm", "group_norm(x, s, t) + k → group_norm(x, s, t + k)",
           is(op_add, {norm, constant("k")}).either(), into_group_norm<false>}};
}

}  // namespace

MICA_RULES(group_norms) = {.rank = 4, .make = make};

}  // namespace mica
