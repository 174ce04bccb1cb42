#include <cmath>

#include "ops/pool/pool.h"

namespace mica {
namespace {

Status infer(InferScope& scope) {
  const int64_t p = scope.attributes<LpPool>().p;
  MICA_CHECK(p > 0, kBadAttribute, "`p` is {}, expected at least 1", p);
  return pool::infer<LpPool>(scope);
}

Status reference(RunScope& scope) {
  const auto& a = scope.attributes<LpPool>();
  MICA_TRY(const pool::Sizes s, pool::prepare(scope, a));
  MICA_TRY(const int64_t* table, window_table(scope, s.window));
  MICA_TRY(const double* x, dense_numbers(scope, scope.in(0)));
  const Elements y(scope.out(0));
  const auto p = static_cast<double>(a.p);
  double sum = 0;
  return pool::for_each_window(
      scope, s, table, [&](int64_t at) { sum += std::pow(std::fabs(x[at]), p); },
      [&](int64_t window) {
        y.set_number(window, std::pow(sum, 1 / p));
        sum = 0;
      });
}

}  // namespace

MICA_OP(lp_pool) = {.name = "lp_pool",
                    .doc = "p-norm of each window of x [N,C,...]",
                    .attributes = attr_class<LpPool>(),
                    .infer = infer,
                    .reference = reference,
                    .flops = pool::flops_of<LpPool>,
                    .layout = LayoutRule::kChannelsLast};

}  // namespace mica
