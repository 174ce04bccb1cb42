#include "ops/norm/instance_norm.h"

#include "ops/norm/moments.h"

namespace mica {
namespace {

Status infer(InferScope& scope) {
  MICA_TRY_STATUS(require_float(scope, 0));
  MICA_TRY_STATUS(require_rank(scope, 0, 2, kMaxRank));
  MICA_TRY_STATUS(norm::require_per_channel(scope, 1));
  MICA_TRY_STATUS(norm::require_per_channel(scope, 2));
  return infer_same(scope);
}

Status reference(RunScope& scope) {
  const TensorView& view = scope.in(0);
  MICA_TRY_STATUS(scope.allocate_output(0, view.shape()));
  if (view.empty()) return {};
  const int64_t channels = view.dim(1), rows = view.dim(0) * channels, n = norm::count_between(view, 2, view.rank);
  const Elements x(view), scale(scope.in(1)), bias(scope.in(2)), out(scope.out(0));
  for (int64_t row = 0; row < rows; ++row) {
    const norm::Moments m = norm::moments_of(x, row * n, n);
    const int64_t c = row % channels;
    const double factor =
        scale.number(c) / std::sqrt(m.variance + static_cast<double>(scope.attributes<InstanceNorm>().epsilon));
    for (int64_t i = 0; i < n; ++i)
      out.set_number(row * n + i, (x.number(row * n + i) - m.mean) * factor + bias.number(c));
  }
  return {};
}

}  // namespace

MICA_OP(instance_norm) = {.name = "instance_norm",
                          .doc = "each channel of each image to mean `bias` and deviation `scale`",
                          .inputs = {3, 3},
                          .attributes = attr_class<InstanceNorm>(),
                          .infer = infer,
                          .reference = reference,
                          .layout = LayoutRule::kAny,
                          .in_place = true};

}  // namespace mica
