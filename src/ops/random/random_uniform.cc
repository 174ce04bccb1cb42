#include "ops/random/distribution.h"

namespace mica {
namespace {

Status reference(RunScope& scope) {
  const auto& a = scope.attributes<Distribution>();
  const double first = static_cast<double>(a.first), second = static_cast<double>(a.second);
  return random::draw_all(scope,
                          [&](random::Mersenne& generator) { return first + (second - first) * generator.uniform(); });
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
