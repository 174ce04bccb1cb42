// A result may stand where the residual did that is added to it, when nobody reads that one later: the values take less
// memory, and lines that were just read are written.
#include "runtime/binder.h"

namespace mica {

// Stages whose hooks allow it. Nothing is placed yet.
Status SegmentBinder::find_residuals() {
  scratch_.shares_residual.clear();
  if (context_.reference_only || !context_.in_place || has_bounds()) return {};
  for (uint32_t s = segment_.first_stage; s < segment_.end_stage; ++s) {
    const Stage& stage = function_.stages[s];
    const RunDef* hook = hook_of(*stage.op);
    if (!hook || !hook->takes_residual || own_input_count(stage) == stage.inputs.size() || !has_fixed_inputs(s))
      continue;
    WholeScope scope(*this, stage, s, scratch_.first);
    MICA_TRY_STATUS(describe_unplaced(stage, scope));
    if (!hook->takes_residual(scope)) continue;
    MICA_TRY_STATUS(scratch_.shares_residual.resize(segment_.end_stage - segment_.first_stage));
    scratch_.shares_residual[s - segment_.first_stage] = true;
  }
  return {};
}

// The post-operation's operand that stands where output 0 does, or -1. The scope has its operands.
int SegmentBinder::shared_residual_of(const Stage& stage, const StageScope& scope) const {
  const Place& result = scope.places[scope.input_count];
  if (scratch_.shares_residual.empty() || result.base < kBlockPlace) return -1;
  for (size_t i = own_input_count(stage); i < scope.input_count; ++i)
    if (scope.places[i].base == result.base && scope.places[i].offset == result.offset) return static_cast<int>(i);
  return -1;
}

// Stage s needs its residual elsewhere: values are to be placed anew.
void SegmentBinder::part_residual(uint32_t s) {
  scratch_.shares_residual[s - segment_.first_stage] = false;
  scratch_.parted = true;
}

}  // namespace mica
