#include "ops/norm/batch_norm.h"

#include <cmath>

#include "types/infer.h"

namespace mica {
namespace {

Status infer(InferScope& scope) {
  MICA_TRY_STATUS(require_float(scope, 0));
  const Shape& x = scope.shape(0);
  for (int i = 1; i < 5; ++i) {
    MICA_TRY_STATUS(require_float(scope, i));
    const Shape& p = scope.shape(i);
    if (!x.known() || !p.known()) continue;
    MICA_CHECK(p.rank >= 1 && p.rank <= std::max(1, x.rank - 1), kBadRank, "input {} has {} dimensions, expected 1", i,
               static_cast<int>(p.rank));
    for (int k = 0; k < p.rank; ++k) {
      const Dim wanted = x.rank >= 2 ? x[k + 1] : Dim(1);
      const bool differ = wanted.is_fixed() && p[k].is_fixed() && !(wanted == p[k]);
      MICA_CHECK(!differ, kBadShape, "input {} has {} numbers along axis {}, x has {} there", i, p[k].value(), k,
                 wanted.value());
    }
  }
  scope.out(0, scope.type(0));
  scope.out(1, scope.dtype(3), scope.shape(3));
  scope.out(2, scope.dtype(4), scope.shape(4));
  return {};
}

// x as batch × parameters × inner, in source order.
struct Loops {
  int64_t batch, parameters, inner;
};
Loops loops_of(const TensorView& x, const TensorView& scale) {
  Loops loops{1, scale.count(), 1};
  if (x.rank < 2) return {x.count(), 1, 1};
  loops.batch = x.empty() ? 0 : x.dim(0);  // images of nothing are not walked
  for (int i = 1 + scale.rank; i < x.rank; ++i) loops.inner *= x.dim(i);
  return loops;
}

struct Statistics {
  double mean, variance;
};
Statistics statistics_of(const Elements& x, const Loops& loops, int64_t parameter) {
  const auto n = static_cast<double>(loops.batch * loops.inner);
  const auto each = [&](auto f) {
    for (int64_t b = 0; b < loops.batch; ++b)
      for (int64_t i = 0; i < loops.inner; ++i) f(x.number((b * loops.parameters + parameter) * loops.inner + i));
  };
  Statistics s{0, 0};
  each([&](double v) { s.mean += v / n; });
  each([&](double v) { s.variance += (v - s.mean) * (v - s.mean) / n; });
  return s;
}

Status reference(RunScope& scope) {
  const auto& a = scope.attributes<BatchNorm>();
  const TensorView& view = scope.in(0);
  MICA_TRY_STATUS(scope.allocate_output(0, view.shape()));
  MICA_TRY_STATUS(scope.allocate_output(1, scope.in(3).shape()));
  MICA_TRY_STATUS(scope.allocate_output(2, scope.in(4).shape()));
  const Loops loops = loops_of(view, scope.in(1));
  MICA_CHECK(loops.batch * loops.parameters * loops.inner == view.count(), kBadShape,
             "the scale does not fit the input");
  const Elements x(view), scale(scope.in(1)), bias(scope.in(2)), mean(scope.in(3)), variance(scope.in(4));
  for (int64_t p = 0; p < loops.parameters; ++p) {
    const Statistics running{mean.number(p), variance.number(p)};
    const Statistics s = a.training ? statistics_of(x, loops, p) : running;
    const double factor = scale.number(p) / std::sqrt(s.variance + static_cast<double>(a.epsilon));
    for (int64_t b = 0; b < loops.batch && scope.wants(0); ++b)
      for (int64_t i = 0; i < loops.inner; ++i) {
        const int64_t at = (b * loops.parameters + p) * loops.inner + i;
        Elements(scope.out(0)).set_number(at, (x.number(at) - s.mean) * factor + bias.number(p));
      }
    const double keep = a.training ? static_cast<double>(a.momentum) : 1;
    if (scope.wants(1))
      Elements(scope.out(1)).set_number(p, running.mean * keep + (a.training ? s.mean * (1 - keep) : 0));
    if (scope.wants(2))
      Elements(scope.out(2)).set_number(p, running.variance * keep + (a.training ? s.variance * (1 - keep) : 0));
  }
  return {};
}

}  // namespace

MICA_OP(batch_norm) = {.name = "batch_norm",
                       .doc = "(x - mean) / sqrt(variance + epsilon) * scale + bias, by channel",
                       .inputs = {5, 5},
                       .outputs = {1, 3},
                       .attributes = attr_class<BatchNorm>(),
                       .infer = infer,
                       .reference = reference,
                       .layout = LayoutRule::kAny,
                       .in_place = true};

}  // namespace mica
