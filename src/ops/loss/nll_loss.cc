#include "ops/loss/loss.h"

namespace mica {
namespace {

Status reference(RunScope& scope) {
  MICA_TRY(const loss::Sizes s, loss::sizes_of(scope));
  MICA_TRY(const double* x, dense_numbers(scope, scope.in(loss::kScores)));
  return loss::reduce(scope, s, x);
}

}  // namespace

MICA_OP(nll_loss) = {.name = "nll_loss",
                     .doc = "minus the log-likelihood [N,C,...] of each label [N,...], with a weight for each class",
                     .inputs = {2, 3},
                     .attributes = attr_class<ClassLoss>(),
                     .infer = loss::infer,
                     .reference = reference};

}  // namespace mica
