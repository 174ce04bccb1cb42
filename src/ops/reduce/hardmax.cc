#include "ops/reduce/softmax_op.h"

namespace mica {
namespace {

Status reference(RunScope& scope) {
  return reduce::for_each_row(scope, [](int64_t n, auto load, auto store) {
    int64_t best = 0;
    for (int64_t i = 1; i < n; ++i)
      if (load(i) > load(best)) best = i;
    for (int64_t i = 0; i < n; ++i) store(i, i == best ? 1 : 0);
  });
}

}  // namespace

MICA_OP(hardmax) = {.name = "hardmax",
                    .doc = "1 at the first largest element along `axis`, 0 elsewhere",
                    .attributes = attr_class<Softmax>(),
                    .infer = reduce::infer_softmax,
                    .reference = reference};

}  // namespace mica
