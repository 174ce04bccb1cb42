// The forms of weights that the stages of a segment can choose from, and what each byte of them has to save.
#include "runtime/binder.h"
#include "runtime/forms.h"

namespace mica {
namespace {

// A form takes at most about so many times the room of its weights: models far below the goal ask nobody.
constexpr double kMostGrowth = 4;

}  // namespace

// What the hooks choose from, by stage.
Status SegmentBinder::list_forms() {
  for (uint32_t s = segment_.first_stage; s < segment_.end_stage; ++s) {
    const Stage& stage = function_.stages[s];
    const RunDef* hook = hook_of(*stage.op);
    if (!hook || !hook->forms || !has_fixed_inputs(s)) continue;
    WholeScope scope(*this, stage, s, scratch_.first);
    MICA_TRY_STATUS(describe_unplaced(stage, scope));
    hook->forms(scope, scratch_.forms[s - segment_.first_stage]);
  }
  return {};
}

// Choices that must not depend on the machine, that are forced, or that another number of a bounded dimension would
// change, stay as they are.
Status SegmentBinder::find_byte_prices() {
  scratch_.forms.clear();
  scratch_.byte_prices.clear();
  double bytes = 0;
  for (const PlanConstant& constant : plan_.constants) bytes += static_cast<double>(constant.bytes);
  const auto goal = static_cast<double>(context_.weight_goal);
  if (bytes * kMostGrowth <= goal || context_.reference_only || context_.low_memory || context_.exact || has_bounds() ||
      !context_.machine->force.view().empty())
    return {};
  MICA_TRY_STATUS(scratch_.forms.resize(segment_.end_stage - segment_.first_stage));
  MICA_TRY_STATUS(list_forms());
  return price_forms(scratch_.forms, bytes, goal, scratch_.byte_prices);
}

}  // namespace mica
