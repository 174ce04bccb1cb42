// If. Inputs: the condition, then what the regions use from outside; both regions take all of it.
#include "ops/control/region.h"

namespace mica {
namespace {

Status infer(InferScope& scope) {
  MICA_CHECK(scope.dtype(0) == DType::kBool, kBadType, "the condition of an if is {}, not bool",
             name_of(scope.dtype(0)));
  const auto captures = scope.inputs.subspan(1);
  double known = 0;
  const bool decided = scope.in(0).constant && scope.scalar(0, known);
  Vector<InferValue> results[2];
  bool sound[2] = {};
  Status trouble;
  for (int r = 0; r < 2; ++r) {
    if (decided && (known != 0) != (r == 0)) continue;
    MICA_TRY_STATUS(results[r].resize(scope.outputs.size()));
    for (InferValue& result : results[r]) result.present = true;
    Status status = scope.infer_region(r, captures, results[r]);
    sound[r] = status.ok();
    if (sound[r]) continue;
    if (status.error().code() == Code::kOutOfMemory) return status;
    trouble = std::move(status);
    static_cast<void>(scope.dims().take_status());  // arithmetic that failed inside of it
  }
  // The branch that is not taken may be impossible for these operands; its results then say nothing.
  if (!sound[0] && !sound[1]) return trouble;
  const bool both = sound[0] && sound[1];
  for (size_t i = 0; i < scope.outputs.size(); ++i) {
    Type type = results[sound[0] ? 0 : 1][i].type;
    uint32_t open = 0;
    if (both) MICA_TRY_STATUS(region::widen(type, results[1][i].type, open, scope.dims()));
    if (!both && !decided) type.shape = Shape();
    scope.out(static_cast<int>(i), type);
  }
  return {};
}

Status reference(RunScope& scope) {
  const TensorView& condition = scope.in(0);
  MICA_CHECK(condition.count() == 1 && condition.dtype == DType::kBool, kBadValue,
             "the condition of an if must be one truth value");
  const int chosen = Elements(condition).integer(0) ? 0 : 1;
  Vector<RunScope::CallResult> results;
  MICA_TRY_STATUS(results.resize(scope.outputs.size()));
  MICA_TRY_STATUS(scope.call(chosen, scope.inputs.subspan(1), results));
  for (size_t i = 0; i < results.size(); ++i)
    MICA_TRY_STATUS(region::take_value(scope, static_cast<int>(i), results[i]));
  return {};
}

}  // namespace

MICA_OP(cond) = {.name = "cond",
                 .doc = "The results of region 0 when input 0 is true, else of region 1",
                 .inputs = {1, kAnyNumber},
                 .outputs = {0, kAnyNumber},
                 .infer = infer,
                 .reference = reference,
                 .regions = 2,
                 .takes_objects = true};

}  // namespace mica
