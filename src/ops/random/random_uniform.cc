#include "ops/random/distribution.h"
#include "ops/random/mersenne.h"

namespace mica {
namespace {

Status reference(RunScope& scope) {
  MICA_TRY_STATUS(random::allocate_distribution(scope));
  const auto& a = scope.attributes<Distribution>();
  random::Mersenne generator(static_cast<uint64_t>(a.seed));
  const Elements out(scope.out(0));
  for (int64_t i = 0, n = scope.out(0).count(); i < n; ++i)
    out.set_number(i, static_cast<double>(a.first) +
                          (static_cast<double>(a.second) - static_cast<double>(a.first)) * generator.uniform());
  return {};
}

}  // namespace

MICA_OP(random_uniform) = {.name = "random_uniform",
                           .doc = "numbers spread evenly over first ... second",
                           .inputs = {0, 1},
                           .attributes = attr_class<Distribution>(),
                           .infer = random::infer_distribution,
                           .reference = reference,
                           .random = true};

}  // namespace mica
