#include "ops/conv/conv_transpose.h"
#include "kernels/conv/transpose.h"

#include "kernels/conv/winograd.h"
#include "kernels/pack/pack.h"
#include "ops/conv/conv_problem.h"
#include "ops/conv/conv_transpose_sizes.h"
#include "ops/conv/conv_transpose_step.h"
#include "step/gemm_epilogue.h"

namespace mica {
namespace {

struct Packing {
  ConvTransposeProblem problem;
  WinogradWeightsFn winograd;
};

void pack(const TensorView& plain, void* to, const void* context) {
  const Packing& p = *static_cast<const Packing*>(context);
  pack_conv_transpose(p.problem, plain.as<const float>(), static_cast<float*>(to), p.winograd);
}

// The post-ops; a residual is taken when it has channels innermost, as the output then has.
GemmEpilogue take_epilogue(BindScope& scope, bool direct, bool has_bias, conv::TransposeStep& step,
                           ConvTransposeProblem& p) {
  GemmEpilogueOptions options{.column_axis = 1, .has_bias = has_bias, .residual = direct};
  GemmEpilogueMap map = map_epilogue(scope, options);
  ImageView residual;
  if (map.residual >= 0 && !(image_view(scope.input(map.residual).view, residual) && residual.channels_last())) {
    options.residual = false;
    map = map_epilogue(scope, options);
  }
  step.operands.bias = has_bias ? 2 : map.bias;
  step.operands.residual = map.residual;
  p.has_residual = map.residual >= 0;
  if (p.has_residual) p.residual_view = conv::view_of(residual);
  scope.epilogue_done = map.done;
  return map.form;
}

// Fills the phases; returns the tasks of all.
int64_t choose_phases(const BindScope& scope, ConvTransposeProblem& p, const GemmEpilogue& epilogue,
                      conv::TransposeStep& step) {
  choose_transforms(p, scope.exact ? Isa::kAvx512 : step.isa, scope.exact ? GemmLimits{} : step.limits, step.policy);
  int64_t tasks = 0;
  for (int64_t i = 0; i < step.count; ++i) {
    const ConvPhase phase = conv_phase(p, i);
    const ConvChoice choice = choose_conv(phase.problem, phase.algorithm, step.isa, step.limits);
    new (step.phases + i) conv::TransposePhase{{.problem = phase.problem, .choice = choice, .epilogue = epilogue},
                                               phase.packed_at,
                                               phase.y_at,
                                               phase.residual_at};
    tasks += choice.tasks;
    step.scratch_floats = std::max(step.scratch_floats, choice.scratch_floats);
  }
  step.scratch_floats = (step.scratch_floats + 15) / 16 * 16;
  return tasks;
}

// Taps are sorted into phases by strides, dilations and pads; each is below 2^12 here (see `bind`). Every phase's
// transform takes four bits.
PackKey pack_key(const ConvTransposeProblem& p) {
  PackKey key{static_cast<uint32_t>(PackKind::kPanels16), {p.groups, 2}};
  for (int i = 0; i < 3; ++i) {
    key.parameters[3] = key.parameters[3] * 4096 + p.stride[i];
    key.parameters[4] = key.parameters[4] * 4096 + p.dilation[i];
    key.parameters[5] = key.parameters[5] * 8192 + p.pad[i] + 4096;
  }
  uint64_t transforms = 0;
  for (ConvAlgorithm a : p.transform) transforms = transforms << 4 | static_cast<uint64_t>(a);
  key.parameters[2] = static_cast<int64_t>(transforms);
  return key;
}

bool within_key(const ConvTransposeProblem& p) {
  for (int i = 0; i < 3; ++i)
    if (p.stride[i] >= 4096 || p.dilation[i] >= 4096 || p.pad[i] >= 4096 || p.pad[i] <= -4096) return false;
  return true;
}

MICA_AT_BIND Result<bool> bind(BindScope& scope) {
  const BoundOperand &x = scope.input(0), &w = scope.input(1);
  const TensorView& out = scope.output(0).view;
  const bool has_bias = own_inputs(scope) > 2 && scope.has(2);
  if (x.view.dtype != DType::kF32 || !w.constant || !w.view.contiguous() || x.view.empty() || w.view.empty() ||
      out.empty())
    return false;
  if (has_bias && scope.input(2).view.dim(0) > 1 &&
      scope.input(2).view.stride(0) != static_cast<int64_t>(sizeof(float)))
    return false;
  MICA_TRY(const conv::TransposeSizes sizes, conv::transpose_sizes(scope.attributes<ConvTranspose>(), x.view, w.view));
  MICA_TRY(Packing * packing, scope.arguments<Packing>());
  ConvTransposeProblem* p = &packing->problem;
  constexpr int64_t kMostPhases = 256;
  if (!conv::kernel_problem(sizes, *p) || !within_key(*p) || conv_phase_count(*p) > kMostPhases) return false;
  const int y = static_cast<int>(scope.inputs.size());
  MICA_TRY(const ImageOperand to, write_channels_last(scope, y, out));
  if (to.operand < 0) return false;
  MICA_TRY(const ImageOperand from, read_channels_last(scope, 0, x.view));
  if (from.operand < 0) return false;
  p->in_view = conv::view_of(from.view);
  p->out_view = conv::view_of(to.view);
  MICA_TRY(conv::TransposeStep * step, scope.arguments<conv::TransposeStep>());
  step->count = conv_phase_count(*p);
  step->operands.x = from.operand;
  step->operands.y = to.operand;
  step->isa = scope.machine->isa;
  step->limits = limits_of(*scope.machine);
  step->policy = {.force = conv_force(scope.machine->force.view()), .low_memory = scope.low_memory, .is_phase = true};
  step->kernels = &conv_kernels(step->isa);
  packing->winograd = step->kernels->winograd_weights;
  MICA_TRY(void* memory, scope.memory(static_cast<size_t>(step->count) * sizeof(conv::TransposePhase)));
  step->phases = static_cast<conv::TransposePhase*>(memory);
  const GemmEpilogue epilogue = take_epilogue(scope, to.operand == y, has_bias, *step, *p);
  const int64_t tasks = choose_phases(scope, *p, epilogue, *step);
  const PackKey key = pack_key(*p);
  const bool transforms = key.parameters[2] != 0;
  const auto bytes = static_cast<size_t>(packed_conv_transpose_size(*p)) * sizeof(float);
  MICA_TRY(const void* packed, scope.packed(1, {key, bytes, pack, packing}));
  step->packed = static_cast<const float*>(packed);
  MICA_TRY_STATUS(scope.add(
      {.kernel = conv::run_transpose_step,
       .arguments = step,
       .tasks = tasks,
       .work = static_cast<double>(x.view.count()) * static_cast<double>(sizes.group_out * sizes.window.taps()),
       .scratch_bytes = static_cast<size_t>(step->scratch_floats) * sizeof(float) +
                        static_cast<size_t>(step->count) * sizeof(ConvArgs),
       .name = transforms ? "conv_transpose_f32_winograd" : "conv_transpose_f32"}));
  MICA_TRY_STATUS(finish_channels_last(scope, y, out, to));
  return true;
}

}  // namespace

MICA_RUN(conv_transpose) = {.bind = bind};

}  // namespace mica
