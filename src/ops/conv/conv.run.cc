#include "ops/conv/conv_bind.h"
#include "ops/conv/conv_problem.h"
#include "step/gemm_epilogue.h"

namespace mica {
namespace {

// What was measured for the problem; kAuto when nothing was, or nothing that is known.
ConvAlgorithm tuned_algorithm(const BindScope& scope, const ConvProblem& p) {
  if (!kWithTuning || !scope.tuning || scope.tuning->empty() || scope.exact) return ConvAlgorithm::kAuto;
  char key[kConvKeySize];
  return conv_algorithm(scope.tuning->find(conv::kTuningFamily, {key, print_key(p, key, sizeof key)}));
}

// What was measured, or by this machine's costs; where results must not depend on the machine, by those of a fixed one.
ConvAlgorithm algorithm_of(const BindScope& scope, const ConvProblem& p) {
  ConvPolicy policy = conv::policy_of(scope);
  policy.tuned = tuned_algorithm(scope, p);
  if (scope.exact) return choose_conv_algorithm(p, Isa::kAvx512, {}, policy);
  return choose_conv_algorithm(p, scope.machine->isa, limits_of(*scope.machine), policy);
}

// How the kernels would see the input as it lies: planes where they can read these, else dense.
ConvView input_as_it_lies(const ConvProblem& problem, const TensorView& x) {
  ConvProblem p = problem;
  ImageView in;
  if (image_view(x, in)) p.in_view = conv::view_of(in);
  return reads_planes(p) ? p.in_view : dense_view(p.in, p.in_channels);
}

// The problem from planes to planes as they lie, where that is the cheapest; nothing needs to be turned then. Filters
// do not tell means of rows.
bool filters_planes(const BindScope& scope, ConvProblem& p) {
  const TensorView &x = scope.input(0).view, &y = scope.output(0).view;
  ImageView in, out;
  if (!kWithFilter || scope.band || scope.row_means >= 0 || x.rank < 3 || !image_view(x, in) || !image_view(y, out))
    return false;
  const auto sizes = conv::sizes_of(scope.attributes<Conv>(), x, scope.input(1).view);
  if (!sizes.ok() || !conv::kernel_problem(*sizes, p) || x.empty() || y.empty()) return false;
  p.in_view = conv::view_of(in);
  p.out_view = conv::view_of(out);
  if (!conv_fits(p, ConvAlgorithm::kFilter)) return false;
  return scope.sizes_vary ? p.out_channels < kPanel : algorithm_of(scope, p) == ConvAlgorithm::kFilter;
}

// All rows of all images, as dense tensors; false when the problem is none for the kernels.
bool dense_problem(const BindScope& scope, const conv::Sizes& sizes, ConvProblem& p) {
  if (!conv::kernel_problem(sizes, p)) return false;
  p.in_view = input_as_it_lies(p, scope.input(0).view);
  p.out_view = dense_view(p.out, p.out_channels);
  return true;
}

// The same of constant weights and an input that is not empty.
bool constant_problem(const BindScope& scope, ConvProblem& p) {
  const TensorView &x = scope.input(0).view, &w = scope.input(1).view;
  if (x.rank < 3 || x.dtype != DType::kF32 || !scope.input(1).constant || x.empty()) return false;
  const auto sizes = conv::sizes_of(scope.attributes<Conv>(), x, w);
  return sizes.ok() && dense_problem(scope, *sizes, p);
}

// Its algorithm, or kAuto.
ConvAlgorithm whole_algorithm(const BindScope& scope, const conv::Sizes& sizes) {
  ConvProblem p;
  if (filters_planes(scope, p)) return ConvAlgorithm::kFilter;
  return dense_problem(scope, sizes, p) ? algorithm_of(scope, p) : ConvAlgorithm::kAuto;
}

// A product of whole rows and one of gathered rows have the same sums: which of them it is depends on strides.
bool makes_rows(ConvAlgorithm a) {
  return !is_winograd(a) && a != ConvAlgorithm::kAuto && a != ConvAlgorithm::kFilter && a != ConvAlgorithm::kStrassen;
}
ConvAlgorithm band_algorithm(ConvAlgorithm whole, const ConvProblem& band, const ConvForce& force) {
  const bool either = whole == ConvAlgorithm::kPointwise || whole == ConvAlgorithm::kImplicit;
  if (!either || (force.set && force.allows(whole))) return whole;
  return conv_fits(band, ConvAlgorithm::kPointwise) ? ConvAlgorithm::kPointwise : ConvAlgorithm::kImplicit;
}

bool rows(const BindScope& scope, RowWindow& window) {
  const TensorView &x = scope.input(0).view, &w = scope.input(1).view;
  if (x.rank < 3 || x.dtype != DType::kF32 || !scope.input(1).constant) return false;
  const auto sizes = conv::sizes_of(scope.attributes<Conv>(), x, w);
  if (!sizes.ok() || !makes_rows(whole_algorithm(scope, *sizes))) return false;
  window = row_window(sizes->window);
  return true;
}

// Algorithms that read before they write, with the same blocks: where all of k passes a tile at once.
bool takes_residual(const BindScope& scope) {
  ConvProblem p;
  if (filters_planes(scope, p) || !constant_problem(scope, p) || reads_planes(p)) return false;
  const ConvAlgorithm algorithm = algorithm_of(scope, p);
  const Isa isa = scope.machine->isa;
  const GemmLimits limits = limits_of(*scope.machine);
  const ConvChoice apart = choose_conv(p, algorithm, isa, limits);
  p.residual_in_place = true;
  if (!conv_fits(p, algorithm)) return false;
  const ConvChoice shared = choose_conv(p, algorithm, isa, limits);
  return shared.gemm.k_block == apart.gemm.k_block && shared.block_segments == apart.block_segments;
}

void forms(const BindScope& scope, FormOptions& options) {
  ConvProblem p;
  if (!constant_problem(scope, p)) return;
  const ConvPolicy policy = conv::policy_of(scope);
  const ConvCandidates all = conv_candidates(p, scope.machine->isa, limits_of(*scope.machine), policy);
  const double direct = all.list[static_cast<int>(ConvAlgorithm::kImplicit) - 1].error;
  for (const ConvCandidate& c : all.list)
    if (c.fits && is_unasked(c, policy)) options.add(priced_cycles(c, direct), c.bytes);
}

// Chooses the algorithm, and has the input turned where that wants it; kAuto when its strides allow neither.
Result<ConvAlgorithm> take_input(BindScope& scope, const conv::Sizes& sizes, conv::ConvStep& step) {
  ConvProblem& p = step.args.problem;
  const TensorView& x = scope.input(0).view;
  const auto choose = [&] {
    return scope.band ? band_algorithm(whole_algorithm(scope, sizes), p, step.policy.force) : algorithm_of(scope, p);
  };
  p.in_view = input_as_it_lies(p, x);
  if (p.in_view.channel != 1 && choose() == ConvAlgorithm::kImplicit) return ConvAlgorithm::kImplicit;
  MICA_TRY(const ImageOperand from, read_channels_last(scope, 0, x));
  if (from.operand < 0) return ConvAlgorithm::kAuto;
  p.in_view = conv::view_of(from.view);
  step.operands.x = from.operand;
  return choose();
}

// The algorithm's tiles and tasks; where that pays, the product's rows are gathered by a step of their own.
Status take_choice(BindScope& scope, ConvAlgorithm algorithm, conv::ConvStep& step) {
  ConvProblem& p = step.args.problem;
  ConvChoice& choice = step.args.choice;
  // Means and bands are of rows as the attributes say them.
  const bool has_line = algorithm == ConvAlgorithm::kImplicit || algorithm == ConvAlgorithm::kDepthwise;
  if (has_line && !scope.band && scope.row_means < 0) p = as_line(p, algorithm);
  choice = choose_conv(p, algorithm, step.isa, step.limits, step.policy.on_the_way());
  if (!kWithGather || scope.band) return {};
  choose_gathered(p, step.isa, step.limits, choice);
  if (!choice.gathered) return {};
  const int64_t floats = p.images * p.out[0] * p.out[1] * p.out[2] * choice.row_pitch;
  MICA_TRY(step.operands.rows, scope.temporary(static_cast<size_t>(floats) * sizeof(float)));
  return scope.add({.kernel = conv::run_gather,
                    .arguments = &step,
                    .tasks = choice.gather_tasks,
                    .work = static_cast<double>(floats),
                    .scratch_bytes = static_cast<size_t>(choice.scratch_floats) * sizeof(float),
                    .name = "conv_gather_f32"});
}

MICA_AT_BIND Result<bool> bind(BindScope& scope) {
  if (scope.input(0).view.dtype != DType::kF32) return false;
  ConvProblem planes;
  const bool filters = filters_planes(scope, planes);
  MICA_TRY(const conv::BegunStep begun, conv::begin_step(scope, scope.attributes<Conv>(), filters ? &planes : nullptr));
  conv::ConvStep* step = begun.step;
  if (!step) return false;
  ConvProblem& p = step->args.problem;
  ConvAlgorithm algorithm = ConvAlgorithm::kFilter;
  if (!filters) {
    MICA_TRY(algorithm, take_input(scope, begun.sizes, *step));
  }
  if (algorithm == ConvAlgorithm::kAuto) return false;
  step->policy.tuned = tuned_algorithm(scope, p);
  step->chosen_for = p;
  MICA_TRY_STATUS(take_choice(scope, algorithm, *step));
  if (scope.row_means >= 0 && makes_row_means(algorithm) && scope.epilogue_done == scope.epilogue.count) {
    step->operands.row_means = scope.row_means;
    scope.row_means_done = true;
  }
  MICA_TRY_STATUS(conv::pack_weights(scope, *step));
  MICA_TRY_STATUS(conv::add_step(scope, *step, conv::step_name(algorithm, scope.row_means_done)));
  MICA_TRY_STATUS(finish_channels_last(scope, begun.y, scope.output(0).view, begun.to));
  scope.shared_residual_done = p.residual_in_place;
  return true;
}

}  // namespace

MICA_RUN(conv) = {.bind = bind,
                  .rows = rows,
                  .makes_row_means = kWithRowMeans,
                  .takes_residual = takes_residual,
                  .forms = kWithForms ? forms : nullptr};

}  // namespace mica
