#include "ops/norm/lrn.h"

#include "ops/norm/moments.h"
#include "types/stop.h"

namespace mica {
namespace {

Status infer(InferScope& scope) {
  MICA_TRY_STATUS(require_float(scope, 0));
  MICA_TRY_STATUS(require_rank(scope, 0, 2, kMaxRank));
  const int64_t size = scope.attributes<Lrn>().size;
  MICA_CHECK(size > 0, kBadAttribute, "`size` is {}", size);
  return infer_same(scope);
}

Status reference(RunScope& scope) {
  const auto& a = scope.attributes<Lrn>();
  const TensorView& view = scope.in(0);
  MICA_TRY_STATUS(scope.allocate_output(0, view.shape()));
  if (view.empty()) return {};
  const int64_t channels = view.dim(1), inner = norm::count_between(view, 2, view.rank);
  const int64_t before = (a.size - 1) / 2, behind = a.size - 1 - before;
  const Elements x(view), out(scope.out(0));
  StopCheck stop(scope);
  for (int64_t n = 0; n < view.dim(0); ++n)
    for (int64_t c = 0; c < channels; ++c)
      for (int64_t i = 0; i < inner; ++i) {
        MICA_TRY_STATUS(stop.before(std::min(channels, a.size)));
        double square = 0;
        for (int64_t k = std::max<int64_t>(0, c - before); k <= std::min(channels - 1, c + behind); ++k) {
          const double v = x.number((n * channels + k) * inner + i);
          square += v * v;
        }
        const double base =
            static_cast<double>(a.bias) + static_cast<double>(a.alpha) / static_cast<double>(a.size) * square;
        const int64_t at = (n * channels + c) * inner + i;
        out.set_number(at, x.number(at) / std::pow(base, static_cast<double>(a.beta)));
      }
  return {};
}

}  // namespace

MICA_OP(lrn) = {.name = "lrn",
                .doc = "x / (bias + alpha * mean square over neighbouring channels) ^ beta (Krizhevsky et al. 2012)",
                .attributes = attr_class<Lrn>(),
                .infer = infer,
                .reference = reference,
                .layout = LayoutRule::kAny};

}  // namespace mica
