// One convolution on the kernels as a step.
#pragma once
#include "base/format.h"
#include "kernels/conv/cost.h"
#include "step/channels_last.h"
#include "step/explanation.h"

namespace mica::conv {

struct StepOperands {
  // -1 when there is none (w: packed ahead; rows: not gathered before)
  int x = 0, w = -1, bias = -1, y = 0, residual = -1, row_means = -1, rows = -1;
};

struct ConvStep {
  ConvArgs args;
  StepOperands operands;
  const ConvKernels* kernels;
  Isa isa;  // what the choice was made for
  GemmLimits limits;
  ConvPolicy policy;
  // As the attributes say it: what the algorithm was chosen for, and the weights are packed of. The arguments' problem
  // may be one of fewer axes.
  ConvProblem chosen_for;
};

// The first word of a measured choice (step/tuning.h).
inline constexpr std::string_view kTuningFamily = "conv";

inline void run_step(const void* arguments, void* const* operands, const TaskRange& range) {
  const ConvStep& step = *static_cast<const ConvStep*>(arguments);
  const auto at = [&](int i) { return i < 0 ? nullptr : static_cast<float*>(operands[i]); };
  ConvArgs args = step.args;
  if (has_pixels(args.problem))
    args.pixels = static_cast<const uint8_t*>(operands[step.operands.x]);
  else
    args.x = at(step.operands.rows >= 0 ? step.operands.rows : step.operands.x);
  args.y = at(step.operands.y);
  if (step.operands.w >= 0) args.w = at(step.operands.w);
  if (step.operands.bias >= 0) args.epilogue.bias = at(step.operands.bias);
  args.epilogue.residual = at(step.operands.residual);
  args.row_means = at(step.operands.row_means);
  step.kernels->run(args, range.begin, range.end, static_cast<float*>(range.scratch));
}

// Gathers the rows of the step's product.
inline void run_gather(const void* arguments, void* const* operands, const TaskRange& range) {
  const ConvStep& step = *static_cast<const ConvStep*>(arguments);
  ConvArgs args = step.args;
  args.x = static_cast<const float*>(operands[step.operands.x]);
  step.kernels->gather(args, range.begin, range.end, static_cast<float*>(operands[step.operands.rows]),
                       static_cast<float*>(range.scratch));
}

// What an algorithm was chosen by.
struct ChoiceGrounds {
  Isa isa;
  const GemmLimits& limits;
  const ConvPolicy& policy;
};
// What the algorithm of `args` was chosen from for `p`, and how it is run. Returns the length.
inline size_t explain_choice(const ConvProblem& p, const ConvArgs& args, const ChoiceGrounds& by,
                             std::span<char> text) {
  size_t length = print_candidates(p, args.choice.algorithm, by.isa, by.limits, by.policy, text);
  const auto rest = text.subspan(length);
  if (rest.size() <= 2) return length;
  length += format_to(rest.data(), rest.size(), ". ");
  return length + print(args.problem, args.choice, rest.data() + 2, rest.size() - 2);
}

// False when the step, which its kernel tells, is no convolution of this file.
inline bool explain_step(KernelFn kernel, const void* arguments, std::span<char> text, Explanation& out) {
  if (kernel != run_step) return false;
  const ConvStep& step = *static_cast<const ConvStep*>(arguments);
  const ConvProblem& p = step.chosen_for;
  const ConvAlgorithm chosen = step.args.choice.algorithm;
  out.length = explain_choice(p, step.args, {step.isa, step.limits, step.policy}, text);
  out.is_tuned = !step.policy.force.set && step.policy.tuned == chosen;
  out.is_forced = step.policy.force.allows(chosen);
  for (const ConvCandidate& c : conv_candidates(p, step.isa, step.limits, step.policy).list)
    out.can_force = out.can_force || is_asked(c, step.policy);
  return true;
}

inline ConvView view_of(const ImageView& v) {
  return {v.image, v.depth, v.row, v.pixel, v.channels_last() ? 1 : v.channel};
}

inline std::string_view step_name(ConvAlgorithm algorithm, bool row_means = false) {
  switch (algorithm) {
    case ConvAlgorithm::kPointwise: return "conv_f32_pointwise";
    case ConvAlgorithm::kDepthwise: return row_means ? "conv_f32_depthwise_means" : "conv_f32_depthwise";
    case ConvAlgorithm::kGrouped: return row_means ? "conv_f32_grouped_means" : "conv_f32_grouped";
    case ConvAlgorithm::kSpread: return "conv_f32_spread";
    case ConvAlgorithm::kFilter: return "conv_f32_filter";
    case ConvAlgorithm::kStrassen: return "conv_f32_strassen";
    case ConvAlgorithm::kPaired: return "conv_f32_paired";
    case ConvAlgorithm::kWinograd4: return "conv_f32_winograd4";
    case ConvAlgorithm::kWinograd6: return "conv_f32_winograd6";
    case ConvAlgorithm::kWinograd8: return "conv_f32_winograd8";
    default: return "conv_f32_implicit";
  }
}

// Adds the step, whose arguments are in the scope's memory.
inline Status add_step(BindScope& scope, const ConvStep& step, std::string_view name) {
  const ConvProblem& p = step.args.problem;
  const double outputs = static_cast<double>(p.images * p.out[0] * p.out[1] * p.out[2] * p.out_channels);
  const int64_t products = p.in_channels / p.groups * p.kernel[0] * p.kernel[1] * p.kernel[2];  // for one output
  return scope.add({.kernel = run_step,
                    .arguments = &step,
                    .tasks = step.args.choice.tasks,
                    .work = outputs * static_cast<double>(products),
                    .scratch_bytes = static_cast<size_t>(step.args.choice.scratch_floats) * sizeof(float),
                    .name = name});
}

}  // namespace mica::conv
