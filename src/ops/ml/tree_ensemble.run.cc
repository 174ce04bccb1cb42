#include <algorithm>

#include "ops/ml/trees_check.h"
#include "step/run.h"

namespace mica {
namespace {

enum Operand { kX, kNodes, kThresholds, kRoots, kTargets, kWeights, kSets };

struct TreeStep {
  TreeEnsemble attributes;
  int64_t rows, features, roots;
  int sets;   // 1 with members
  bool seen;  // output 1 is wanted
};

// Rows of a task: enough to be worth a thread's while for small forests.
constexpr int64_t kRowsPerTask = 16;

void run(const void* arguments, void* const* operands, const TaskRange& range) {
  const auto& step = *static_cast<const TreeStep*>(arguments);
  auto* all_out = static_cast<float*>(operands[kSets + step.sets]);
  auto* all_seen = step.seen ? static_cast<bool*>(operands[kSets + step.sets + 1]) : nullptr;
  const auto floats = [&](int i) { return static_cast<const float*>(operands[i]); };
  const auto integers = [&](int i) { return static_cast<const int64_t*>(operands[i]); };
  const int64_t targets = step.attributes.targets;
  const trees::Tables<float> t{integers(kNodes),    integers(kRoots), integers(kTargets),
                               floats(kThresholds), floats(kWeights), step.sets > 0 ? floats(kSets) : nullptr,
                               step.roots,          targets,          step.attributes.aggregate};
  auto* sums = static_cast<double*>(range.scratch);
  auto* seen = reinterpret_cast<bool*>(sums + targets);
  const int64_t end = std::min(range.end * kRowsPerTask, step.rows);
  for (int64_t n = range.begin * kRowsPerTask; n < end; ++n) {
    const float* x = floats(kX) + n * step.features;
    trees::evaluate_row(
        t, [x](int64_t i) { return x[i]; }, sums, seen);
    for (int64_t k = 0; k < targets; ++k) all_out[n * targets + k] = static_cast<float>(sums[k]);
    if (all_seen) std::copy_n(seen, targets, all_seen + n * targets);
  }
}

// Tables that are constants, and sound: then the walk needs no checks.
Result<bool> bind(BindScope& scope) {
  const auto& a = scope.attributes<TreeEnsemble>();
  const TensorView &x = scope.input(kX).view, &nodes = scope.input(kNodes).view;
  const bool sets = scope.has(kSets);
  for (int i = kNodes; i <= (sets ? kSets : kWeights); ++i)
    if (!scope.input(i).constant || !scope.input(i).view.contiguous()) return false;
  for (int i : {static_cast<int>(kX), static_cast<int>(kThresholds), static_cast<int>(kWeights)})
    if (scope.input(i).view.dtype != DType::kF32 || !scope.input(i).view.contiguous()) return false;
  if (sets && scope.input(kSets).view.dtype != DType::kF32) return false;
  if (x.rank != 2 || nodes.rank != 2 || nodes.dim(1) != trees::kColumns || !scope.output(0).view.contiguous())
    return false;
  if (scope.output(0).view.empty()) return true;
  const bool wanted_seen = scope.outputs.size() > 1 && scope.output(1).present;
  if (!scope.output(0).present || (wanted_seen && !scope.output(1).view.contiguous())) return false;
  const int64_t roots = scope.input(kRoots).view.count(), weights = scope.input(kWeights).view.count();
  if (scope.input(kThresholds).view.count() != nodes.dim(0) || scope.input(kTargets).view.count() != weights)
    return false;
  const trees::TableSizes sizes{nodes.dim(0), roots,    weights, sets ? scope.input(kSets).view.count() : 0,
                                x.dim(1),     a.targets};
  const auto integers = [&](int i) { return scope.input(i).view.as<int64_t>(); };
  MICA_TRY_STATUS(trees::check_tables(integers(kNodes), integers(kRoots), integers(kTargets), sizes));
  MICA_TRY(TreeStep * step, scope.arguments<TreeStep>());
  *step = {a, x.dim(0), x.dim(1), roots, scope.inputs.size() > kSets, wanted_seen};
  constexpr double kDepth = 8;  // of a usual tree: decisions on the way to a leaf
  MICA_TRY_STATUS(scope.add({.kernel = run,
                             .arguments = step,
                             .tasks = (step->rows + kRowsPerTask - 1) / kRowsPerTask,
                             .work = static_cast<double>(step->rows) * static_cast<double>(roots) * kDepth,
                             .scratch_bytes = static_cast<size_t>(a.targets) * (sizeof(double) + sizeof(bool)),
                             .name = "tree_ensemble_f32"}));
  return true;
}

}  // namespace

MICA_RUN(tree_ensemble) = {.bind = bind};

}  // namespace mica
