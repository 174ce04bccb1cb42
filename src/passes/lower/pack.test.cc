#include "passes/lower/pack.h"

#include <gtest/gtest.h>

#include "ir/graph.h"
#include "kernels/pack/form.h"

namespace mica {
namespace {

constexpr int64_t kDims[] = {48, 32};

// Stages that read constants: each row is the inputs of one stage, by constant.
Plan plan_of(const std::vector<float>& weights, size_t constants, const std::vector<std::vector<uint32_t>>& stages) {
  Plan plan;
  ok_or_throw(plan.functions.resize(1));
  PlanFunction& main = plan.functions[0];
  for (uint32_t c = 0; c < constants; ++c) {
    PlanConstant constant;
    constant.dtype = DType::kF32;
    constant.shape = {kDims[0], kDims[1]};
    constant.data = weights.data();
    constant.bytes = weights.size() * 4;
    ok_or_throw(plan.constants.push_back(std::move(constant)));
    PlanValue value;
    value.kind = ValueKind::kConstant;
    value.constant = c;
    ok_or_throw(main.values.push_back(std::move(value)));
  }
  for (const auto& inputs : stages) {
    Stage stage;
    ok_or_throw(stage.inputs.append(inputs));
    ok_or_throw(main.stages.push_back(std::move(stage)));
  }
  return plan;
}

TEST(PackConstants, PacksWhatAllReadersWantAlike) {
  std::vector<float> weights(48 * 32);
  for (size_t i = 0; i < weights.size(); ++i) weights[i] = static_cast<float>(i);
  const PackKey key = key_of({.kind = PackKind::kPanels16}),
                other = key_of({.kind = PackKind::kPanels16, .layout = PackLayout::kTransposed});
  // 0: one reader; 1: two that agree; 2: two that do not; 3: one reads it plain; 4: the function's result.
  Plan plan = plan_of(weights, 5, {{0, 1, 2, 3, 4}, {kNoIndex, 1, 2, 3}});
  ok_or_throw(plan.functions[0].outputs.push_back(4));
  std::vector<StageWish> wishes;
  for (uint32_t i = 0; i < 5; ++i) wishes.push_back({0, 0, i, key});
  wishes.push_back({0, 1, 1, key});
  wishes.push_back({0, 1, 2, other});
  std::vector<uint32_t> replaced;
  const auto block = pack_constants(plan, wishes, [&](uint32_t c) { replaced.push_back(c); });
  EXPECT_EQ(replaced, (std::vector<uint32_t>{0, 1}));
  for (const uint32_t c : replaced) {
    std::vector<float> back(weights.size());
    unpack_by_key(plan.constants[c].packing, kDims, static_cast<const float*>(plan.constants[c].data), back.data());
    EXPECT_EQ(back, weights) << c;
  }
  EXPECT_EQ(plan.constants[2].packing, PackKey());
  EXPECT_EQ(plan.constants[2].data, weights.data());
}

TEST(PackConstants, LeavesFormsThatDoNotFit) {
  const std::vector<float> weights(48 * 32);
  Plan plan = plan_of(weights, 1, {{0}});
  for (const PackKey& key : {key_of({.kind = PackKind::kDepthwise16}), key_of({.kind = PackKind::kWinograd}),
                             key_of({.kind = PackKind::kPanels16, .layout = PackLayout::kConv, .groups = 5})})
    EXPECT_EQ(pack_constants(plan, {{0, 0, 0, key}}, [](uint32_t) { FAIL(); }), nullptr);
}

}  // namespace
}  // namespace mica
