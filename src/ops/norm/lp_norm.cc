#include "ops/norm/lp_norm.h"

#include <cmath>

#include "types/infer.h"

namespace mica {
namespace {

Status infer(InferScope& scope) {
  MICA_TRY_STATUS(require_float(scope, 0));
  const auto& a = scope.attributes<LpNorm>();
  MICA_CHECK(a.p == 1 || a.p == 2, kBadAttribute, "`p` is {}, expected 1 or 2", a.p);
  if (scope.shape(0).known()) {
    auto axis = normalize_axis(a.axis, scope.shape(0).rank);
    if (!axis.ok()) return axis.take_error();
  }
  return infer_same(scope);
}

// A vector of length 0 stays 0.
Status reference(RunScope& scope) {
  const auto& a = scope.attributes<LpNorm>();
  const TensorView& view = scope.in(0);
  MICA_TRY(const int axis, normalize_axis(a.axis, view.rank));
  MICA_TRY_STATUS(scope.allocate_output(0, view.shape()));
  if (view.empty()) return {};
  const Elements x(view), out(scope.out(0));
  int64_t dims[kMaxRank], index[kMaxRank] = {};
  for (int i = 0; i < view.rank; ++i) dims[i] = i == axis ? 1 : view.dim(i);
  do {
    double sum = 0;
    int64_t& along = index[axis];
    for (along = 0; along < view.dim(axis); ++along) {
      const double v = x.number_at(index);
      sum += a.p == 1 ? std::fabs(v) : v * v;
    }
    const double length = a.p == 1 ? sum : std::sqrt(sum);
    for (along = 0; along < view.dim(axis); ++along)
      out.set_number_at(index, length == 0 ? 0 : x.number_at(index) / length);
    along = 0;
  } while (next_index(index, std::span<const int64_t>(dims, static_cast<size_t>(view.rank))));
  return {};
}

}  // namespace

MICA_OP(lp_norm) = {.name = "lp_norm",
                    .doc = "vectors along `axis` divided by their length",
                    .attributes = attr_class<LpNorm>(),
                    .infer = infer,
                    .reference = reference};

}  // namespace mica
