// One transposed convolution on the kernels as a step.
#pragma once
#include <new>
#include <string_view>

#include "kernels/conv/transpose.h"
#include "ops/conv/conv_step.h"

namespace mica::conv {

// One phase: its numbers, and where it begins in the whole's operands, in floats.
struct TransposePhase {
  ConvArgs args;
  int64_t packed_at, y_at, residual_at;
};

struct TransposeStep {
  int64_t count;
  TransposePhase* phases;
  const float* packed;
  StepOperands operands;
  int64_t scratch_floats;  // the phases' arguments stand behind them
  const ConvKernels* kernels;
  Isa isa;  // what the choices were made for
  GemmLimits limits;
  ConvPolicy policy;
};

inline void run_transpose_step(const void* arguments, void* const* operands, const TaskRange& range) {
  const TransposeStep& s = *static_cast<const TransposeStep*>(arguments);
  const auto at = [&](int i) { return i < 0 ? nullptr : static_cast<float*>(operands[i]); };
  float* scratch = static_cast<float*>(range.scratch);
  auto* phases = reinterpret_cast<ConvArgs*>(scratch + s.scratch_floats);
  for (int64_t i = 0; i < s.count; ++i) {
    const TransposePhase& phase = s.phases[i];
    ConvArgs* args = new (phases + i) ConvArgs(phase.args);
    args->x = at(s.operands.x);
    args->w = s.packed + phase.packed_at;
    args->y = at(s.operands.y) + phase.y_at;
    args->epilogue.bias = at(s.operands.bias);
    if (s.operands.residual >= 0) args->epilogue.residual = at(s.operands.residual) + phase.residual_at;
  }
  run_phases(*s.kernels, phases, s.count, range.begin, range.end, scratch);
}

// As explain_step: the grounds and the choice of each phase that is not like the one before, as far as there is room.
// Forced: every phase that could be.
inline bool explain_transpose_step(KernelFn kernel, const void* arguments, std::span<char> text, Explanation& out) {
  if (kernel != run_transpose_step) return false;
  const TransposeStep& step = *static_cast<const TransposeStep*>(arguments);
  bool misses = false;
  std::string_view last;
  for (int64_t i = 0; i < step.count; ++i) {
    const ConvProblem& p = step.phases[i].args.problem;
    const ConvAlgorithm chosen = step.phases[i].args.choice.algorithm;
    size_t begin = out.length;
    if (i > 0) begin += format_to(text.data() + begin, text.size() - begin, "; ");
    const ChoiceGrounds grounds{step.isa, step.limits, step.policy};
    const size_t length = explain_choice(p, step.phases[i].args, grounds, text.subspan(begin));
    const std::string_view phase(text.data() + begin, length);
    if (phase != last) out.length = begin + length, last = phase;
    bool can = false;
    for (const ConvCandidate& c : conv_candidates(p, step.isa, step.limits, step.policy).list)
      can = can || (is_asked(c, step.policy) && (is_winograd(c.algorithm) || c.algorithm == chosen));
    out.can_force = out.can_force || can;
    misses = misses || (can && !step.policy.force.allows(chosen));
  }
  out.is_forced = out.can_force && !misses;
  return true;
}

}  // namespace mica::conv
