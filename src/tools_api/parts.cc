// What a runtime for one model needs, as lines of a list for cmake/MicaTrim.cmake. From the plan alone: on other
// machines and for other shapes the lists are the same.
#include <set>

#include "api/handles.h"
#include "kernels/conv/conv.h"
#include "mica/tools.hpp"
#include "ops/conv/conv.h"
#include "ops/pointwise/pointwise_chain.h"
#include "step/run.h"

namespace mica::tools {
namespace {

using Parts = std::set<std::string>;

void add_function(Pointwise function, Parts& parts) { parts.insert("function " + std::string(info_of(function).name)); }

// Convolutions over f32, or over integers that are widened to it.
void add_convolution(const PlanFunction& function, const Stage& stage, Parts& parts) {
  const size_t weights = stage.op->name == "qlinear_conv" ? 3 : 1;
  if (stage.inputs.size() <= weights || stage.inputs[weights] == kNoIndex) return;
  const Shape& w = function.values[stage.inputs[weights]].type.shape;
  if (!w.known() || !w.fixed() || w.rank < 3) return;
  const auto& conv = *reinterpret_cast<const Conv*>(stage.attributes.data());
  const auto last = static_cast<size_t>(w.rank) - 3;
  const int64_t stride = conv.strides.get(last, 1), dilation = conv.dilations.get(last, 1);
  const int64_t channels = w[0].value(), width = w[w.rank - 1].value();
  if (conv.groups == 1 && w[1].value() <= kMostPlanes) {
    parts.insert("planes " + std::to_string(stride == 1 || stride == 2 ? stride : 0));
    if (ends_in_half_panel(channels)) parts.insert("planes halves");
  }
  if (dilation > 1) parts.insert("taps apart");
  if (conv.groups > 1 && w[1].value() > 1) parts.insert("groups wide");
  if (stage.op->name == "pixel_conv") parts.insert("planes 0");  // whose pixels' channels are adjacent
  if (conv.groups != channels || w[1].value() != 1 || (dilation != 1 && stride != 1)) return;
  constexpr int64_t kMostLanes = 16;
  const bool rest = channels % kMostLanes != 0, has_code = width == 3 || width == 5 || width == 7;
  parts.insert("depthwise " + std::to_string(width) + "x" + std::to_string(stride) + (rest ? " rest" : ""));
  int64_t rows = 1;
  for (int axis = 2; axis < w.rank - 1; ++axis) rows *= w[axis].value();
  if (width == 3 && rows != 3) parts.insert("depthwise other rows");
  if (stride == 1 && (!has_code || (rest && width != 3))) parts.insert("depthwise windows");
}

void add_stage(const PlanFunction& function, const Stage& stage, Parts& parts) {
  const std::string_view name = stage.op->name;
  if (!find_op(name)) {  // a caller's
    parts.insert("custom operators");
    return;
  }
  parts.insert("operator " + std::string(name));
  for (int i = 0; i < stage.epilogue.count; ++i) add_function(stage.epilogue.ops[i].function, parts);
  if (name == "pointwise_chain")
    for (int64_t f : reinterpret_cast<const PointwiseChain*>(stage.attributes.data())->functions)
      add_function(static_cast<Pointwise>(f), parts);
  if (name == "conv" || name == "pixel_conv" || name == "conv_integer" || name == "qlinear_conv")
    add_convolution(function, stage, parts);
}

// Averages may start from what convolutions with groups tell while they write.
void add_means(const PlanFunction& function, const Stage& stage, Parts& parts) {
  const RunDef* hook = find_run(*stage.op);
  if (!hook || !hook->takes_row_means || stage.inputs.empty() || stage.inputs[0] == kNoIndex) return;
  for (const Stage& maker : function.stages)
    if (maker.op->name == "conv" && maker.outputs[0] == stage.inputs[0] &&
        reinterpret_cast<const Conv*>(maker.attributes.data())->groups > 1)
      parts.insert("means rows");
}

}  // namespace

std::vector<std::string> parts_of(const mica_model* model) {
  Parts parts;
  if (!model) return {};
  const Plan& plan = model->core->plan();
  if (!model->core->tuning().empty()) parts.insert("measured choices");
  for (const PlanFunction& function : plan.functions) {
    for (const Stage& stage : function.stages) {
      add_stage(function, stage, parts);
      add_means(function, stage, parts);
    }
    for (const PlanValue& value : function.values)
      if (value.type.dtype != DType::kNone && value.type.dtype != DType::kString)
        parts.insert("bytes " + std::to_string(element_bytes(value.type.dtype)));
  }
  return {parts.begin(), parts.end()};
}

}  // namespace mica::tools
