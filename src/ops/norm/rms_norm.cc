#include "ops/norm/layer_norm.h"
#include "ops/norm/moments.h"

namespace mica {
namespace {

Status infer(InferScope& scope) {
  MICA_TRY_STATUS(require_float(scope, 0));
  MICA_TRY_STATUS(norm::require_broadcasts_to(scope, 1));
  if (scope.shape(0).known()) {
    auto axis = normalize_axis(scope.attributes<LayerNorm>().axis, scope.shape(0).rank);
    if (!axis.ok()) return axis.take_error();
  }
  return infer_same(scope);
}

Status reference(RunScope& scope) {
  const auto& a = scope.attributes<LayerNorm>();
  const TensorView& view = scope.in(0);
  MICA_TRY(const int axis, normalize_axis(a.axis, view.rank));
  MICA_TRY_STATUS(scope.allocate_output(0, view.shape()));
  if (view.empty()) return {};
  const int64_t rows = norm::count_between(view, 0, axis), n = norm::count_between(view, axis, view.rank);
  const Elements x(view), out(scope.out(0));
  for (int64_t row = 0; row < rows; ++row) {
    MICA_TRY_STATUS(scope.check_stop());
    double square = 0;
    for (int64_t i = row * n; i < (row + 1) * n; ++i) square += x.number(i) * x.number(i) / static_cast<double>(n);
    const double factor = 1 / std::sqrt(square + static_cast<double>(a.epsilon));
    for (int64_t i = row * n; i < (row + 1) * n; ++i)
      out.set_number(i, x.number(i) * factor * norm::broadcast_number(scope.in(1), view, i));
  }
  return {};
}

int64_t flops(const CostScope& scope) {
  auto n = element_count(scope.inputs[0].shape);
  return n.ok() ? 4 * *n : 0;
}

}  // namespace

MICA_OP(rms_norm) = {.name = "rms_norm",
                     .doc = "each row divided by the root of its mean square, times scale",
                     .inputs = {2, 2},
                     .attributes = attr_class<LayerNorm>(),
                     .infer = infer,
                     .reference = reference,
                     .flops = flops,
                     .in_place = true};

}  // namespace mica
