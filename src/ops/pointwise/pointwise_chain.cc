#include "ops/pointwise/pointwise_chain.h"

#include "base/parts.h"
#include "ops/pointwise/broadcast.h"

namespace mica {
namespace {

Status check_links(const PointwiseChain& chain, size_t inputs) {
  const size_t n = chain.functions.size();
  MICA_CHECK(n <= kMaxChainLinks, kLimit, "a chain of {} functions; at most {} are possible", n, kMaxChainLinks);
  for (size_t i = 0; i < n; ++i) {
    const int64_t f = chain.functions[i];
    MICA_CHECK(f > 0 && f < kPointwiseCount, kBadAttribute, "function {} of the chain is {}", i, f);
    MICA_CHECK(in_build(static_cast<Pointwise>(f)), kUnsupportedOperator,
               "element-wise function `{}` is not in this build", info_of(static_cast<Pointwise>(f)).name);
    const int64_t operand = chain.operands.get(i, -1);
    const bool binary = info_of(static_cast<Pointwise>(f)).inputs == 2;
    MICA_CHECK(!binary || (operand >= 0 && operand < static_cast<int64_t>(inputs)), kBadAttribute,
               "function {} has no operand {}", i, operand);
  }
  return {};
}

bool takes_bytes(DType dtype) { return has_part("bytes", "1") && is_byte(dtype); }

Status infer(InferScope& scope) {
  const auto& chain = scope.attributes<PointwiseChain>();
  MICA_TRY_STATUS(require_tensor(scope, 0));
  const bool begins = takes_bytes(scope.dtype(0)), ends = takes_bytes(chain.to);
  MICA_CHECK(ends || chain.to == DType::kNone, kBadAttribute, "a chain makes u8 or i8 of its numbers, not {}",
             name_of(chain.to));
  if (!begins) MICA_TRY_STATUS(require_float(scope, 0));
  MICA_TRY_STATUS(check_links(chain, scope.inputs.size()));
  if (!begins && !ends) return infer_pointwise(scope);
  MICA_CHECK(begins || scope.dtype(0) == DType::kF32, kBadType, "input 0 must be f32, not {}", name_of(scope.dtype(0)));
  Shape shape = scope.shape(0);
  for (int i = 1; i < static_cast<int>(scope.inputs.size()); ++i) {
    if (!scope.has(i)) continue;
    MICA_TRY_STATUS(require_tensor(scope, i));
    MICA_CHECK(scope.dtype(i) == DType::kF32, kBadType, "input {} must be f32, not {}", i, name_of(scope.dtype(i)));
    MICA_TRY(shape, broadcast(shape, scope.shape(i), scope.dims()));
  }
  scope.out(0, ends ? chain.to : DType::kF32, shape);
  return {};
}

Status reference(RunScope& scope) {
  const auto& chain = scope.attributes<PointwiseChain>();
  const auto inputs = static_cast<int>(scope.inputs.size());
  MICA_TRY_STATUS(check_links(chain, scope.inputs.size()));
  MICA_TRY_STATUS(pointwise::allocate_broadcast(scope, inputs));
  const TensorView& out = scope.out(0);
  if (out.empty()) return {};
  int64_t index[kMaxRank] = {}, own[kMaxRank] = {};
  do {
    const auto number = [&](int i) {
      return Elements(scope.in(i)).number_at(pointwise::own_index(scope.in(i), out.rank, index, own));
    };
    double value = number(0);
    for (size_t i = 0; i < chain.functions.size(); ++i) {
      const int64_t operand = chain.operands.get(i, -1);
      const double other = operand >= 0 ? number(static_cast<int>(operand)) : 0;
      const auto f = static_cast<Pointwise>(chain.functions[i]);
      const bool swapped = operand >= 0 && chain.swapped.get(i, 0) != 0;
      value = apply(f, swapped ? other : value, swapped ? value : other, chain.a.get(i, 0), chain.b.get(i, 0));
    }
    if (chain.to == DType::kNone)
      Elements(out).set_number_at(index, value);
    else
      Elements(out).set_truncated_at(index, static_cast<float>(value));
  } while (next_index(index, out.shape()));
  return {};
}

int64_t flops(const CostScope& scope) {
  auto n = element_count(scope.outputs[0].shape);
  return n.ok() ? *n * static_cast<int64_t>(scope.attributes<PointwiseChain>().functions.size()) : 0;
}

}  // namespace

MICA_OP(pointwise_chain) = {.name = "pointwise_chain",
                            .doc = "element-wise functions one after another, in one pass",
                            .inputs = {1, kAnyNumber},
                            .attributes = attr_class<PointwiseChain>(),
                            .infer = infer,
                            .reference = reference,
                            .flops = flops,
                            .layout = LayoutRule::kAny,
                            .in_place = true};

}  // namespace mica
