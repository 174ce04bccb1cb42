#include <cmath>

#include "ops/loss/loss.h"

namespace mica {
namespace {

// x becomes x - log Σ exp(x) over the classes.
void log_softmax(const loss::Sizes& s, double* x) {
  for (int64_t i = 0; i < s.batch * s.inner; ++i) {
    double* first = x + i / s.inner * s.classes * s.inner + i % s.inner;
    double top = -HUGE_VAL, sum = 0;
    for (int64_t c = 0; c < s.classes; ++c) top = !(first[c * s.inner] <= top) ? first[c * s.inner] : top;
    for (int64_t c = 0; c < s.classes; ++c) sum += std::exp(first[c * s.inner] - top);
    for (int64_t c = 0; c < s.classes; ++c) first[c * s.inner] -= top + std::log(sum);
  }
}

Status reference(RunScope& scope) {
  MICA_TRY(const loss::Sizes s, loss::sizes_of(scope));
  MICA_TRY(double* x, dense_numbers(scope, scope.in(loss::kScores)));
  log_softmax(s, x);
  if (scope.wants(1)) {
    MICA_TRY_STATUS(scope.allocate_output(1, scope.in(loss::kScores).shape()));
    store_dense(x, scope.out(1));
  }
  return loss::reduce(scope, s, x);
}

}  // namespace

MICA_OP(softmax_cross_entropy) = {
    .name = "softmax_cross_entropy",
    .doc = "minus the log of each label's softmax; inputs scores, labels, weights; outputs loss, log-softmax",
    .inputs = {2, 3},
    .outputs = {1, 2},
    .attributes = attr_class<ClassLoss>(),
    .infer = loss::infer,
    .reference = reference};

}  // namespace mica
