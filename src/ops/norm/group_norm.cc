#include "ops/norm/group_norm.h"

#include "ops/norm/moments.h"

namespace mica {
namespace {

Status infer(InferScope& scope) {
  MICA_TRY_STATUS(require_float(scope, 0));
  MICA_TRY_STATUS(require_rank(scope, 0, 2, kMaxRank));
  const auto& a = scope.attributes<GroupNorm>();
  MICA_CHECK(a.groups > 0, kBadAttribute, "`groups` is {}", a.groups);
  const Shape& x = scope.shape(0);
  if (x.known() && x[1].is_fixed())
    MICA_CHECK(x[1].value() % a.groups == 0, kBadShape, "{} channels do not make {} equal groups", x[1].value(),
               a.groups);
  for (int i = 1; i < 3; ++i) {
    if (!a.per_group) MICA_TRY_STATUS(norm::require_per_channel(scope, i));
    MICA_TRY_STATUS(require_rank(scope, i, 1, 1));
    const Shape& p = scope.shape(i);
    if (a.per_group && p.known() && p[0].is_fixed())
      MICA_CHECK(p[0].value() == a.groups, kBadShape, "input {} has {} numbers for {} groups", i, p[0].value(),
                 a.groups);
  }
  return infer_same(scope);
}

Status reference(RunScope& scope) {
  const auto& a = scope.attributes<GroupNorm>();
  const TensorView& view = scope.in(0);
  MICA_TRY_STATUS(scope.allocate_output(0, view.shape()));
  if (view.empty()) return {};
  const int64_t spatial = norm::count_between(view, 2, view.rank), n = view.dim(1) / a.groups * spatial,
                rows = view.dim(0) * a.groups;
  const Elements x(view), scale(scope.in(1)), bias(scope.in(2)), out(scope.out(0));
  for (int64_t row = 0; row < rows; ++row) {
    const norm::Moments m = norm::moments_of(x, row * n, n);
    const double factor = 1 / std::sqrt(m.variance + static_cast<double>(a.epsilon));
    for (int64_t i = 0; i < n; ++i) {
      const int64_t group = row % a.groups, parameter = a.per_group ? group : (group * n + i) / spatial;
      out.set_number(row * n + i,
                     (x.number(row * n + i) - m.mean) * factor * scale.number(parameter) + bias.number(parameter));
    }
  }
  return {};
}

}  // namespace

MICA_OP(group_norm) = {.name = "group_norm",
                       .doc = "each run of channels of each image to mean 0 and deviation 1, times scale, plus bias",
                       .inputs = {3, 3},
                       .attributes = attr_class<GroupNorm>(),
                       .infer = infer,
                       .reference = reference,
                       .layout = LayoutRule::kAny,
                       .in_place = true};

}  // namespace mica
