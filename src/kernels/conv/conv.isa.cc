#include "kernels/conv/conv.h"

#include "kernels/conv/banded.inl"
#include "kernels/conv/filter.inl"
#include "kernels/conv/grouped.inl"
#include "kernels/conv/implicit.inl"
#include "kernels/conv/planes.inl"
#include "kernels/conv/spread.inl"
#include "kernels/conv/winograd_on_the_way.inl"

namespace mica::MICA_ISA {
namespace {

// Lines that lie apart, each as a product in pairs.
void run_lines(const ConvArgs& args, GemmArgs g, int64_t task_begin, int64_t task_end, float* scratch) {
  const ConvProblem& p = args.problem;
  g.problem.m = p.out[2];
  for (int64_t line = task_begin; line < task_end; ++line) {
    const int64_t plane = line / p.out[1];
    const Pixel o{plane / p.out[0], plane % p.out[0], line % p.out[1], 0};
    g.a = args.x + at(p.in_view, o);
    g.c = args.y + at(p.out_view, o);
    if (args.epilogue.residual) g.epilogue.residual = args.epilogue.residual + at(p.residual_view, o);
    gemm_kernels.run(g, 0, g.choice.tasks, scratch);
  }
}

// All pixels as rows of a product: the input's own, or gathered ones.
void run_pointwise(const ConvArgs& args, int64_t task_begin, int64_t task_end, float* scratch) {
  const ConvProblem& p = args.problem;
  const ConvChoice& c = args.choice;
  GemmArgs g;
  g.problem = pointwise_product(p);
  if (c.gathered) g.problem.k = c.segments * c.segment_k;
  g.choice = c.gemm;
  g.a = args.x;
  g.a_stride = c.gathered ? c.row_pitch : p.in_view.pixel;
  g.b = args.w;
  g.c = args.y;
  g.c_stride = p.out_view.pixel;
  g.epilogue = args.epilogue;
  g.epilogue.residual_stride = p.residual_view.pixel;
  if (kWithPaired && c.algorithm == ConvAlgorithm::kPaired && c.by_rows)
    return run_lines(args, g, task_begin, task_end, scratch);
  if (!kWithStrassen || c.algorithm != ConvAlgorithm::kStrassen)
    return gemm_kernels.run(g, task_begin, task_end, scratch);
  gemm_kernels.strassen({g, c.strassen}, task_begin, task_end, scratch);
}

using RunTasks = void (*)(const ConvArgs& args, int64_t task_begin, int64_t task_end, float* scratch);

template <void (*kRun)(const ConvArgs& args, int64_t task, float* scratch)>
void run_each(const ConvArgs& args, int64_t task_begin, int64_t task_end, float* scratch) {
  for (int64_t task = task_begin; task < task_end; ++task) kRun(args, task, scratch);
}

void run_products(const ConvArgs& args, int64_t task_begin, int64_t task_end, float* scratch) {
  if ((kWithPlanes[0] || kWithPlanes[1] || kWithPlanes[2]) && args.choice.planes)
    run_each<run_plane_task>(args, task_begin, task_end, scratch);
  else if (kWithWideGroups && args.choice.banded)
    run_each<run_banded_task>(args, task_begin, task_end, scratch);
  else
    run_implicit_tasks(args, task_begin, task_end, scratch);
}

// A build that is trimmed never chooses what it is without.
RunTasks tasks_of(ConvAlgorithm algorithm) {
  switch (algorithm) {
    case ConvAlgorithm::kDepthwise: return kWithDepthwise ? run_depthwise : nullptr;
    case ConvAlgorithm::kGrouped: return kWithGrouped ? run_each<run_grouped_task> : nullptr;
    case ConvAlgorithm::kSpread: return kWithSpread ? run_each<run_spread_task> : nullptr;
    case ConvAlgorithm::kFilter: return kWithFilter ? run_each<run_filter_task> : nullptr;
    case ConvAlgorithm::kPointwise:
    case ConvAlgorithm::kStrassen:
    case ConvAlgorithm::kPaired: return run_pointwise;
    case ConvAlgorithm::kWinograd4:
    case ConvAlgorithm::kWinograd6:
    case ConvAlgorithm::kWinograd8: return kWithWinograd ? run_winograd_tasks : nullptr;
    default: return run_products;
  }
}

void run(const ConvArgs& args, int64_t task_begin, int64_t task_end, float* scratch) {
  if (kWithGather && args.choice.gathered) return run_pointwise(args, task_begin, task_end, scratch);
  tasks_of(args.choice.algorithm)(args, task_begin, task_end, scratch);
}

void gather_rows(const ConvArgs& args, int64_t task_begin, int64_t task_end, float* rows, float* scratch) {
  const auto gather = args.choice.planes ? gather_plane_task : gather_task;
  for (int64_t task = task_begin; task < task_end; ++task) gather(args, task, rows, scratch);
}

}  // namespace

extern const ConvKernels conv_kernels;
const ConvKernels conv_kernels = {.run = run,
                                  .gather = kWithGather ? gather_rows : nullptr,
                                  .winograd_weights = kWithWinograd ? winograd_weights : nullptr};

}  // namespace mica::MICA_ISA
