#include <algorithm>

#include "ops/ml/tree_walk.h"
#include "ops/ml/trees_check.h"
#include "step/run.h"

namespace mica {
namespace {

enum Operand { kX, kNodes, kThresholds, kRoots, kTargets, kWeights, kSets };

struct TreeStep {
  TreeEnsemble attributes;
  int64_t rows, features, roots;
  int sets;                  // 1 with members
  bool seen;                 // output 1 is wanted
  trees::WalkForest forest;  // without nodes: each decision by itself
};

// Rows of a task: enough to be worth a thread's while for small forests, and to use a tree again while it is near.
constexpr int64_t kRowsPerTask = 64;

// The rows of a task, whose sums and flags stand behind each other.
template <class T>
struct Rows {
  const T* x;
  int64_t count, features;
  double* sums;
  bool* seen;
};

// All trees for a way each of up to kWays rows, or of fewer rows several trees at a time; each row's in their order.
template <class T>
void walk_rows(const trees::Tables<T>& t, const trees::WalkForest& f, const Rows<T>& rows) {
  for (int64_t n = 0; n < rows.count; ++n)
    trees::begin_row(t.target_count, rows.sums + n * t.target_count, rows.seen + n * t.target_count);
  const trees::WalkFn<T> walk = trees::walk_fn<T>(f);
  const int64_t together = std::max<int64_t>(1, trees::kWays / rows.count);
  for (int64_t tree = 0; tree < t.root_count; tree += together) {
    const int64_t all = std::min(together, t.root_count - tree) * rows.count;
    for (int64_t first = 0; first < all; first += trees::kWays) {
      const T* x[trees::kWays];
      int32_t at[trees::kWays];
      const auto ways = static_cast<int>(std::min<int64_t>(trees::kWays, all - first));
      for (int i = 0; i < trees::kWays; ++i) {
        const int64_t way = first + (i < ways ? i : 0);
        x[i] = rows.x + way % rows.count * rows.features;
        at[i] = static_cast<int32_t>(t.roots[tree + way / rows.count]);
      }
      walk(f, x, at);
      for (int i = 0; i < ways; ++i) {
        const int64_t row = (first + i) % rows.count * t.target_count;
        trees::add_weights(t, trees::first_weight(f.node<T>(at[i])), f.ends[at[i]], rows.sums + row, rows.seen + row);
      }
    }
  }
  for (int64_t n = 0; n < rows.count; ++n)
    trees::finish_row(t.aggregate, t.root_count, t.target_count, rows.sums + n * t.target_count);
}

// Each decision by itself.
template <class T>
void evaluate_rows(const trees::Tables<T>& t, const Rows<T>& rows) {
  for (int64_t n = 0; n < rows.count; ++n) {
    const T* x = rows.x + n * rows.features;
    trees::evaluate_row(
        t, [x](int64_t i) { return x[i]; }, rows.sums + n * t.target_count, rows.seen + n * t.target_count);
  }
}

template <class T>
void run(const void* arguments, void* const* operands, const TaskRange& range) {
  const auto& step = *static_cast<const TreeStep*>(arguments);
  auto* all_out = static_cast<T*>(operands[kSets + step.sets]);
  auto* all_seen = step.seen ? static_cast<bool*>(operands[kSets + step.sets + 1]) : nullptr;
  const auto numbers = [&](int i) { return static_cast<const T*>(operands[i]); };
  const auto integers = [&](int i) { return static_cast<const int64_t*>(operands[i]); };
  const int64_t targets = step.attributes.targets;
  const trees::Tables<T> t{integers(kNodes),     integers(kRoots),  integers(kTargets),
                           numbers(kThresholds), numbers(kWeights), step.sets > 0 ? numbers(kSets) : nullptr,
                           step.roots,           targets,           step.attributes.aggregate};
  auto* sums = static_cast<double*>(range.scratch);
  auto* seen = reinterpret_cast<bool*>(sums + kRowsPerTask * targets);
  for (int64_t task = range.begin; task < range.end; ++task) {
    const int64_t begin = task * kRowsPerTask, count = std::min(kRowsPerTask, step.rows - begin);
    const Rows<T> rows{numbers(kX) + begin * step.features, count, step.features, sums, seen};
    if (step.forest.nodes)
      walk_rows(t, step.forest, rows);
    else
      evaluate_rows(t, rows);
    for (int64_t i = 0; i < count * targets; ++i) all_out[begin * targets + i] = static_cast<T>(sums[i]);
    if (all_seen) std::copy_n(seen, count * targets, all_seen + begin * targets);
  }
}

// The forest for walks, of nodes that ask alike.
template <class T>
Status take_forest(BindScope& scope, trees::WalkForest& forest) {
  const TensorView& nodes = scope.input(kNodes).view;
  const auto* thresholds = scope.input(kThresholds).view.as<T>();
  const int64_t count = nodes.dim(0);
  if (trees::any_nan(thresholds, count)) return {};
  MICA_TRY(void* memory, scope.memory(static_cast<size_t>(count) * trees::kForestBytes<T>));
  forest = trees::make_forest(nodes.as<int64_t>(), thresholds, count, memory);
  return {};
}

// Tables that are constants, and sound: then the walk needs no checks.
MICA_AT_BIND Result<bool> bind(BindScope& scope) {
  const auto& a = scope.attributes<TreeEnsemble>();
  const TensorView &x = scope.input(kX).view, &nodes = scope.input(kNodes).view;
  const bool sets = scope.has(kSets);
  for (int i = kNodes; i <= (sets ? kSets : kWeights); ++i)
    if (!scope.input(i).constant || !scope.input(i).view.contiguous()) return false;
  if (x.dtype != DType::kF32 && x.dtype != DType::kF64) return false;
  for (int i : {static_cast<int>(kX), static_cast<int>(kThresholds), static_cast<int>(kWeights)})
    if (scope.input(i).view.dtype != x.dtype || !scope.input(i).view.contiguous()) return false;
  if (sets && scope.input(kSets).view.dtype != x.dtype) return false;
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
  const bool doubles = x.dtype == DType::kF64;
  MICA_TRY(TreeStep * step, scope.arguments<TreeStep>());
  *step = {a, x.dim(0), x.dim(1), roots, scope.inputs.size() > kSets, wanted_seen, {}};
  if (x.dim(1) > 0 && x.dim(1) <= std::numeric_limits<int32_t>::max() &&
      trees::ask_alike(integers(kNodes), nodes.dim(0), weights))
    MICA_TRY_STATUS((doubles ? take_forest<double> : take_forest<float>)(scope, step->forest));
  constexpr double kDepth = 8;  // of a usual tree: decisions on the way to a leaf
  MICA_TRY_STATUS(
      scope.add({.kernel = doubles ? run<double> : run<float>,
                 .arguments = step,
                 .tasks = (step->rows + kRowsPerTask - 1) / kRowsPerTask,
                 .work = static_cast<double>(step->rows) * static_cast<double>(roots) * kDepth,
                 .scratch_bytes = static_cast<size_t>(kRowsPerTask * a.targets) * (sizeof(double) + sizeof(bool)),
                 .name = doubles ? "tree_ensemble_f64" : "tree_ensemble_f32"}));
  return true;
}

}  // namespace

MICA_RUN(tree_ensemble) = {.bind = bind};

}  // namespace mica
