#include "ops/norm/mean_variance_norm.h"

#include <cmath>

#include "ops/norm/moments.h"

namespace mica {
namespace {

constexpr double kEpsilon = 1e-9;  // of the standard's definition: added to the deviation

struct AxisFlags {
  bool has[kMaxRank] = {};
};
Result<AxisFlags> flags_of(const MeanVarianceNorm& a, int rank) {
  AxisFlags flags;
  for (int64_t axis : a.axes) {
    MICA_TRY(const int i, normalize_axis(axis, rank, "axes"));
    flags.has[i] = true;
  }
  return flags;
}

Status infer(InferScope& scope) {
  MICA_TRY_STATUS(require_float(scope, 0));
  if (scope.shape(0).known()) {
    auto flags = flags_of(scope.attributes<MeanVarianceNorm>(), scope.shape(0).rank);
    if (!flags.ok()) return flags.take_error();
  }
  return infer_same(scope);
}

Status reference(RunScope& scope) {
  const TensorView& view = scope.in(0);
  MICA_TRY(const AxisFlags flags, flags_of(scope.attributes<MeanVarianceNorm>(), view.rank));
  MICA_TRY_STATUS(scope.allocate_output(0, view.shape()));
  if (view.empty()) return {};
  const Elements x(view), out(scope.out(0));
  const auto rank = static_cast<size_t>(view.rank);
  int64_t kept[kMaxRank], reduced[kMaxRank], outer[kMaxRank] = {}, inner[kMaxRank] = {}, index[kMaxRank];
  double n = 1;
  for (int i = 0; i < view.rank; ++i) {
    kept[i] = flags.has[i] ? 1 : view.dim(i);
    reduced[i] = flags.has[i] ? view.dim(i) : 1;
    n *= static_cast<double>(reduced[i]);
  }
  do {
    const auto each = [&](auto f) {
      do {
        for (size_t i = 0; i < rank; ++i) index[i] = outer[i] + inner[i];
        f();
      } while (next_index(inner, std::span<const int64_t>(reduced, rank)));
    };
    double mean = 0, variance = 0;
    each([&] { mean += x.number_at(index) / n; });
    each([&] { variance += (x.number_at(index) - mean) * (x.number_at(index) - mean) / n; });
    each([&] { out.set_number_at(index, (x.number_at(index) - mean) / (std::sqrt(variance) + kEpsilon)); });
  } while (next_index(outer, std::span<const int64_t>(kept, rank)));
  return {};
}

}  // namespace

MICA_OP(mean_variance_norm) = {.name = "mean_variance_norm",
                               .doc = "to mean 0 and deviation 1 over `axes`",
                               .attributes = attr_class<MeanVarianceNorm>(),
                               .infer = infer,
                               .reference = reference};

}  // namespace mica
