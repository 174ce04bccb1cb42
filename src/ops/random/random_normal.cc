#include "ops/random/distribution.h"

namespace mica {
namespace {

Status reference(RunScope& scope) {
  const auto& a = scope.attributes<Distribution>();
  const double first = static_cast<double>(a.first), second = static_cast<double>(a.second);
  return random::draw_all(scope, [&](random::Mersenne& generator) { return first + second * generator.normal(); });
}

}  // namespace

MICA_OP(random_normal) = {.name = "random_normal",
                          .doc = "normally distributed numbers of mean `first` and deviation `second`",
                          .inputs = {0, 1},
                          .attributes = attr_class<Distribution>(),
                          .infer = random::infer_distribution,
                          .reference = reference,
                          .random = true};

}  // namespace mica
