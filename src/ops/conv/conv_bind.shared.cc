#include "ops/conv/conv_bind.h"

#include <algorithm>

#include "kernels/conv/winograd.h"
#include "ops/conv/conv_problem.h"
#include "step/gemm_epilogue.h"
#include "step/pack_products.h"

namespace mica::conv {
namespace {

struct Packing {
  ConvProblem problem;
  ConvAlgorithm algorithm;
  int from = 0, to = 0;  // operands
  WinogradWeightsFn winograd = nullptr;
};

void pack_constant(const TensorView& plain, void* to, const void* context) {
  const Packing& p = *static_cast<const Packing*>(context);
  pack_conv(p.problem, p.algorithm, plain.as<const float>(), static_cast<float*>(to), p.winograd);
}

void transform(const void* panels, void* to, const void* context, int64_t first, int64_t last) {
  const Packing& p = *static_cast<const Packing*>(context);
  transform_panels(p.problem, p.algorithm, p.winograd, static_cast<const float*>(panels), static_cast<float*>(to),
                   first, last);
}

void pack_at_run(const void* arguments, void* const* operands, const TaskRange&) {
  const Packing& p = *static_cast<const Packing*>(arguments);
  pack_conv(p.problem, p.algorithm, static_cast<const float*>(operands[p.from]), static_cast<float*>(operands[p.to]),
            p.winograd);
}

}  // namespace

Status pack_weights(BindScope& scope, ConvStep& step) {
  const ConvProblem& p = step.chosen_for;
  const bool on_the_way = is_on_the_way(step.args.choice);
  const ConvAlgorithm algorithm = on_the_way ? ConvAlgorithm::kImplicit : step.args.choice.algorithm;
  if (kWithStrassen && algorithm == ConvAlgorithm::kStrassen) {
    const PackKey key = pack_key(p, algorithm), panels = pack_key(p, ConvAlgorithm::kImplicit);
    MICA_TRY(step.args.w, strassen_ahead(scope, pointwise_product(p), 1, key, panels));
    return {};
  }
  if (kWithPaired && algorithm == ConvAlgorithm::kPaired) {
    const PackKey key = pack_key(p, algorithm), panels = pack_key(p, ConvAlgorithm::kImplicit);
    MICA_TRY(step.args.w, paired_ahead(scope, pointwise_product(p), 1, key, panels));
    return {};
  }
  const auto bytes = static_cast<size_t>(packed_conv_size(p, algorithm)) * sizeof(float);
  MICA_TRY(Packing * packing, scope.arguments<Packing>());
  *packing = {p, algorithm, 1, 0, step.kernels->winograd_weights};
  if (scope.input(1).constant) {
    PackRequest request{pack_key(p, algorithm), bytes, pack_constant, packing};
    if (is_winograd(algorithm)) {
      request.from = pack_key(p, ConvAlgorithm::kImplicit);
      request.pack_parts = transform;
      request.parts = winograd_panels(p);
    }
    MICA_TRY(const void* packed, scope.packed(1, request));
    step.args.w = static_cast<const float*>(packed);
    return {};
  }
  MICA_TRY(packing->to, scope.temporary(bytes));
  step.operands.w = packing->to;
  return scope.add(
      {.kernel = pack_at_run, .arguments = packing, .work = static_cast<double>(bytes), .name = "conv_pack_f32"});
}

namespace {

bool has_bias(const BindScope& scope) { return own_inputs(scope) > 2 && scope.has(2); }

// The post-ops; a residual is taken when it lies as the kernel reads it.
Status take_epilogue(BindScope& scope, ConvStep& step, bool direct_output) {
  GemmEpilogueOptions options{.column_axis = 1, .has_bias = has_bias(scope), .residual = direct_output};
  GemmEpilogueMap map = map_epilogue(scope, options);
  ImageView residual;
  if (map.residual >= 0 && !(image_view(scope.input(map.residual).view, residual) && residual.channels_last())) {
    options.residual = false;
    map = map_epilogue(scope, options);
  }
  step.args.epilogue = map.form;
  step.operands.bias = has_bias(scope) ? 2 : map.bias;
  step.operands.residual = map.residual;
  step.args.problem.has_residual = map.residual >= 0;
  step.args.problem.residual_in_place = map.residual >= 0 && map.residual == scope.shared_residual;
  if (map.residual >= 0) step.args.problem.residual_view = view_of(residual);
  scope.epilogue_done = map.done;
  return {};
}

bool is_vector(const TensorView& v) {
  return v.rank == 1 && (v.dim(0) <= 1 || v.stride(0) == static_cast<int64_t>(sizeof(float)));
}

// The rows and columns of one image that the scope's views have, of the problem for all.
void cut_band(const BindScope& scope, const ImageView& in, const ImageView& out, ConvProblem& p) {
  p.images = in.images;
  std::copy_n(in.extent, 3, p.in);
  std::copy_n(out.extent, 3, p.out);
  scope.band->set_pads(scope.input(0).view.rank, p.pad);
}

}  // namespace

ConvPolicy policy_of(const BindScope& scope) {
  return {.force = conv_force(scope.machine->force.view()),
          .low_memory = scope.low_memory,
          .byte_price = scope.byte_price,
          .from_panels = scope.input(1).constant};
}

Result<BegunStep> begin_step(BindScope& scope, const Conv& attributes, const ConvProblem* planes) {
  const BoundOperand &x = scope.input(0), &w = scope.input(1);
  if (!w.view.contiguous() || (has_bias(scope) && !is_vector(scope.input(2).view))) return BegunStep();
  MICA_TRY(const Sizes sizes, sizes_of(attributes, scope.whole_input(), w.view));
  MICA_TRY(ConvStep * step, scope.arguments<ConvStep>());
  ConvProblem& p = step->args.problem;
  ImageView in, out;
  if (!kernel_problem(sizes, p) || !image_view(x.view, in) || !image_view(scope.output(0).view, out))
    return BegunStep();
  if (scope.band) cut_band(scope, in, out, p);
  if (x.view.empty() || w.view.empty() || scope.output(0).view.empty()) return BegunStep();
  BegunStep begun{step, sizes, static_cast<int>(scope.inputs.size()), {}};
  if (kWithFilter && planes) {
    p = *planes;
    begun.to = {begun.y, out};
  } else {
    MICA_TRY(begun.to, write_channels_last(scope, begun.y, scope.output(0).view));
    if (begun.to.operand < 0) return BegunStep();
    p.out_view = view_of(begun.to.view);
  }
  step->operands.y = begun.to.operand;
  MICA_TRY_STATUS(take_epilogue(scope, *step, begun.to.operand == begun.y && !(kWithFilter && planes)));
  step->isa = scope.machine->isa;
  step->kernels = &conv_kernels(step->isa);
  step->limits = limits_of(*scope.machine);
  step->policy = policy_of(scope);
  return begun;
}

}  // namespace mica::conv
