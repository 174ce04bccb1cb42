#include "ops/norm/layer_norm.h"

#include "ops/norm/moments.h"

namespace mica {
namespace {

Status infer(InferScope& scope) {
  MICA_TRY_STATUS(require_float(scope, 0));
  const auto& a = scope.attributes<LayerNorm>();
  for (int i = 1; i < 3; ++i)
    if (scope.has(i)) MICA_TRY_STATUS(norm::require_broadcasts_to(scope, i));
  scope.out(0, scope.type(0));
  Shape statistics = scope.shape(0);
  if (statistics.known()) {
    MICA_TRY(const int axis, normalize_axis(a.axis, statistics.rank));
    for (int i = axis; i < statistics.rank; ++i) statistics[i] = 1;
  }
  scope.out(1, a.statistics, statistics);
  scope.out(2, a.statistics, statistics);
  return {};
}

Status reference(RunScope& scope) {
  const auto& a = scope.attributes<LayerNorm>();
  const TensorView& view = scope.in(0);
  MICA_TRY(const int axis, normalize_axis(a.axis, view.rank));
  int64_t dims[kMaxRank];
  for (int i = 0; i < view.rank; ++i) dims[i] = i < axis ? view.dim(i) : 1;
  MICA_TRY_STATUS(scope.allocate_output(0, view.shape()));
  for (int o = 1; o < 3; ++o)
    MICA_TRY_STATUS(scope.allocate_output(o, std::span<const int64_t>(dims, static_cast<size_t>(view.rank))));
  if (view.empty() && !scope.wants(1) && !scope.wants(2)) return {};
  const int64_t rows = norm::count_between(view, 0, axis), n = norm::count_between(view, axis, view.rank);
  const Elements x(view);
  for (int64_t row = 0; row < rows; ++row) {
    MICA_TRY_STATUS(scope.check_stop());
    const norm::Moments m = norm::moments_of(x, row * n, n);
    const double factor = 1 / std::sqrt(m.variance + static_cast<double>(a.epsilon));
    if (scope.wants(1)) Elements(scope.out(1)).set_number(row, m.mean);
    if (scope.wants(2)) Elements(scope.out(2)).set_number(row, factor);
    if (!scope.wants(0)) continue;
    for (int64_t i = row * n; i < (row + 1) * n; ++i) {
      double y = (x.number(i) - m.mean) * factor * norm::broadcast_number(scope.in(1), view, i);
      if (scope.has(2)) y += norm::broadcast_number(scope.in(2), view, i);
      Elements(scope.out(0)).set_number(i, y);
    }
  }
  return {};
}

int64_t flops(const CostScope& scope) {
  auto n = element_count(scope.inputs[0].shape);
  return n.ok() ? 6 * *n : 0;
}

}  // namespace

MICA_OP(layer_norm) = {.name = "layer_norm",
                       .doc = "each row to mean 0 and deviation 1, times scale, plus bias",
                       .inputs = {2, 3},
                       .outputs = {1, 3},
                       .attributes = attr_class<LayerNorm>(),
                       .infer = infer,
                       .reference = reference,
                       .flops = flops,
                       .in_place = true};

}  // namespace mica
