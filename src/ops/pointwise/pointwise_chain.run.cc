#include "ops/pointwise/pointwise_chain.h"

#include "step/chain.h"

namespace mica {
namespace {

MICA_AT_BIND Result<bool> bind(BindScope& scope) {
  const auto& chain = scope.attributes<PointwiseChain>();
  ChainLink links[kMaxChainLinks];
  const size_t n = chain.functions.size();
  if (n > kMaxChainLinks) return false;
  for (size_t i = 0; i < n; ++i)
    links[i] = {.function = static_cast<Pointwise>(chain.functions[i]),
                .operand = static_cast<int>(chain.operands.get(i, -1)),
                .swapped = chain.swapped.get(i, 0) != 0,
                .a = chain.a.get(i, 0),
                .b = chain.b.get(i, 0)};
  return bind_chain(scope, 0, std::span<const ChainLink>(links, n), scope.op->name, true);
}

bool rows(const BindScope&, RowWindow& window) {
  window.elementwise = true;
  return true;
}

}  // namespace

MICA_RUN(pointwise_chain) = {.bind = bind, .rows = rows};

}  // namespace mica
