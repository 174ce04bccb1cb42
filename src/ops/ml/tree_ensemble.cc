#include "ops/ml/tree_ensemble.h"

#include "ops/ml/trees_check.h"
#include "types/dense.h"
#include "types/infer.h"

namespace mica {
namespace {

enum Input { kX, kNodes, kThresholds, kRoots, kTargets, kWeights, kSets };

Status infer(InferScope& scope) {
  const auto& a = scope.attributes<TreeEnsemble>();
  MICA_TRY_STATUS(require_rank(scope, kX, 2, 2));
  MICA_TRY_STATUS(require_rank(scope, kNodes, 2, 2));
  const DType x = scope.dtype(kX);
  MICA_CHECK(is_float(x) || is_integer(x), kBadType, "decisions about {}", name_of(x));
  for (int i : {kThresholds, kWeights}) MICA_TRY_STATUS(require_float(scope, i));
  for (int i : {kNodes, kRoots, kTargets})
    MICA_CHECK(scope.dtype(i) == DType::kI64, kBadType, "input {} must be i64, not {}", i, name_of(scope.dtype(i)));
  MICA_TRY_STATUS(require_same_dtype(scope, kThresholds, kWeights));
  constexpr int64_t kMostTargets = 1 << 24;
  MICA_CHECK(a.targets > 0 && a.targets <= kMostTargets, kBadAttribute, "`targets` is {}, expected 1 to {}", a.targets,
             kMostTargets);
  Shape out;
  if (scope.shape(kX).known()) out = Shape{scope.shape(kX)[0], a.targets};
  scope.out(0, scope.dtype(kWeights), out);
  scope.out(1, DType::kBool, out);
  return {};
}

Result<trees::Tables<double>> load(RunScope& scope) {
  const auto& a = scope.attributes<TreeEnsemble>();
  trees::Tables<double> t{};
  t.target_count = a.targets;
  t.aggregate = a.aggregate;
  t.root_count = scope.in(kRoots).count();
  const TensorView& nodes = scope.in(kNodes);
  MICA_CHECK(nodes.rank == 2 && nodes.dim(1) == trees::kColumns && scope.in(kThresholds).count() == nodes.dim(0) &&
                 scope.in(kTargets).count() == scope.in(kWeights).count(),
             kBadShape, "{} nodes with {} thresholds, {} targets for {} weights", nodes.dim(0),
             scope.in(kThresholds).count(), scope.in(kTargets).count(), scope.in(kWeights).count());
  MICA_TRY(t.nodes, dense_integers(scope, nodes));
  MICA_TRY(t.roots, dense_integers(scope, scope.in(kRoots)));
  MICA_TRY(t.targets, dense_integers(scope, scope.in(kTargets)));
  MICA_TRY(t.thresholds, dense_numbers(scope, scope.in(kThresholds)));
  MICA_TRY(t.weights, dense_numbers(scope, scope.in(kWeights)));
  const int64_t members = scope.has(kSets) ? scope.in(kSets).count() : 0;
  if (members) {
    MICA_TRY(t.members, dense_numbers(scope, scope.in(kSets)));
  }
  MICA_TRY_STATUS(trees::check_tables(
      t.nodes, t.roots, t.targets,
      {nodes.dim(0), t.root_count, scope.in(kWeights).count(), members, scope.in(kX).dim(1), a.targets}));
  return t;
}

Status reference(RunScope& scope) {
  const TensorView& x = scope.in(kX);
  MICA_CHECK(x.rank == 2, kBadRank, "features of {} dimensions", x.rank);
  MICA_TRY(const trees::Tables<double> t, load(scope));
  MICA_TRY_STATUS(allocate_output(scope, 0, {x.dim(0), t.target_count}));
  if (scope.wants(1)) MICA_TRY_STATUS(allocate_output(scope, 1, {x.dim(0), t.target_count}));
  MICA_TRY(double* sums, zero_numbers(scope, t.target_count));
  MICA_TRY(void* flags, scope.allocate(static_cast<size_t>(t.target_count)));
  const Elements from(x), to(scope.out(0));
  // Elements of other types are compared in the thresholds' precision.
  const bool single = scope.in(kThresholds).dtype == DType::kF32;
  for (int64_t n = 0; n < x.dim(0); ++n) {
    MICA_TRY_STATUS(scope.check_stop());
    const auto number = [&](int64_t i) {
      const double value = from.number(n * x.dim(1) + i);
      return single ? static_cast<double>(static_cast<float>(value)) : value;
    };
    trees::evaluate_row(t, number, sums, static_cast<bool*>(flags));
    for (int64_t k = 0; k < t.target_count; ++k) {
      to.set_number(n * t.target_count + k, sums[k]);
      if (scope.wants(1)) Elements(scope.out(1)).set_integer(n * t.target_count + k, static_cast<bool*>(flags)[k]);
    }
  }
  return {};
}

}  // namespace

MICA_OP(tree_ensemble) = {
    .name = "tree_ensemble",
    .doc =
        "For each row of features what the leaves that its decisions lead to give each target; inputs x, nodes, "
        "thresholds, roots, targets, weights, members; output 1: which targets were given anything",
    .inputs = {6, 7},
    .outputs = {1, 2},
    .attributes = attr_class<TreeEnsemble>(),
    .infer = infer,
    .reference = reference};

}  // namespace mica
