#include "measure/cost.h"

#include "runtime/infer.h"

namespace mica {
namespace {

int64_t bytes_of(const Type& type) {
  if (!type.is_tensor()) return 0;
  const auto count = element_count(type.shape);
  return count.ok() ? (*count * bits_of(type.dtype) + 7) / 8 : 0;
}

StageCost cost_of(const PlanFunction& function, const Stage& stage, const FunctionTypes& types) {
  StageCost cost;
  std::vector<Type> in, out;
  bool known = true;
  const auto look = [&](uint32_t v, std::vector<Type>& list) {
    list.push_back(v == kNoIndex ? Type() : types.value(v).type);
    if (v != kNoIndex && list.back().is_tensor()) known &= list.back().shape.fixed();
    if (v == kNoIndex) return;
    cost.bytes += bytes_of(list.back());
    if (function.values[v].kind == ValueKind::kConstant) cost.constant_bytes += bytes_of(list.back());
  };
  for (uint32_t v : stage.inputs) look(v, in);
  for (uint32_t v : stage.outputs) look(v, out);
  in.resize(own_input_count(stage));
  if (!known || out.empty()) return cost;
  const auto elements = element_count(out[0].shape);
  const int64_t results = out[0].is_tensor() && elements.ok() ? *elements : 0;
  const CostScope scope{in, out, stage.attributes.data()};
  cost.bytes_product = stage.op->flops && !in.empty() && bits_of(in[0].dtype) == 8;
  cost.flops = (stage.op->flops ? stage.op->flops(scope) : results) + results * stage.epilogue.count;
  return cost;
}

}  // namespace

Result<std::vector<StageCost>> stage_costs(const Session& session) {
  const Plan& plan = session.model().plan();
  const PlanFunction& main = plan.functions[0];
  Pool pool;
  FunctionTypes types(plan, 0, pool);
  MICA_TRY_STATUS(types.begin());
  for (size_t i = 0; i < main.inputs.size(); ++i) {
    if (!session.input_type(i).is_tensor()) continue;
    const TensorView* view = session.input(i);
    MICA_CHECK(view, kState, "input `{}` has no size yet", plan.name(plan.inputs[i].name));
    types.value(main.inputs[i]).type = Type::tensor(view->dtype, view->to_shape());
  }
  std::vector<StageCost> costs;
  for (uint32_t s = 0; s < main.stages.size(); ++s) {
    MICA_TRY_STATUS(types.infer_stage(s));
    costs.push_back(cost_of(main, main.stages[s], types));
  }
  return costs;
}

}  // namespace mica
