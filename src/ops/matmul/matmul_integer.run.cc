#include "ops/matmul/exact_product.h"

namespace mica {
namespace {

// Sums that are larger than single precision holds exactly, from parts that are not.
struct SumStep {
  int from[matmul::kMostParts];
  int parts, to;
  int64_t count;
};
constexpr int64_t kTaskElements = 16384;

void add_parts(const void* arguments, void* const* operands, const TaskRange& range) {
  const auto& s = *static_cast<const SumStep*>(arguments);
  const int64_t begin = range.begin * kTaskElements, end = std::min(s.count, range.end * kTaskElements);
  auto* to = static_cast<uint32_t*>(operands[s.to]);
  for (int part = 0; part < s.parts; ++part) {
    const auto* from = static_cast<const float*>(operands[s.from[part]]);
    for (int64_t i = begin; i < end; ++i)
      to[i] = (part ? to[i] : 0) + static_cast<uint32_t>(static_cast<int32_t>(from[i]));
  }
}

MICA_AT_BIND Result<bool> bind(BindScope& scope) {
  MICA_TRY(const matmul::ExactSums sums,
           matmul::bind_exact(scope, {.a = 0, .a_zero = 2, .b = 1, .b_zero = 3}, matmul::kMostParts));
  if (sums.parts == 0) return false;
  if (sums.parts == 1) {
    MICA_TRY_STATUS(matmul::finish_exact(scope, sums.part[0], nullptr, 0));
    return true;
  }
  MICA_TRY(SumStep * step, scope.arguments<SumStep>());
  *step = {{}, sums.parts, static_cast<int>(scope.inputs.size()), scope.output(0).view.count()};
  for (int i = 0; i < sums.parts; ++i) step->from[i] = sums.part[i].operand;
  MICA_TRY_STATUS(scope.add({.kernel = add_parts,
                             .arguments = step,
                             .tasks = (step->count + kTaskElements - 1) / kTaskElements,
                             .work = static_cast<double>(step->count * sums.parts),
                             .name = "add_exact_parts"}));
  return true;
}

}  // namespace

MICA_RUN(matmul_integer) = {.bind = bind};

}  // namespace mica
