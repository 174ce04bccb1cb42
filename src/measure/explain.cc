#include "measure/explain.h"

#include "measure/explain_step.h"

namespace mica {

Result<std::vector<StageChoice>> explain(Session& session) {
  MICA_TRY_STATUS(session.prepare());
  std::vector<StageChoice> choices;
  const BoundSegment* segment = session.runner().last_segment();
  if (!segment) return choices;
  const Plan& plan = session.model().plan();
  for (const BoundStep& step : segment->steps) {
    const Stage& stage = plan.functions[0].stages[step.stage];
    char text[1024];
    Explanation explanation;
    if (!explain_any_step(step.kernel, step.arguments, text, explanation)) continue;
    StageChoice choice;
    choice.name = plan.name(stage.name);
    choice.op = stage.op->name;
    choice.kernel = step.name;
    choice.choice = std::string(text, explanation.length);
    choice.can_force = explanation.can_force;
    choice.is_forced = explanation.is_forced;
    choice.is_tuned = explanation.is_tuned;
    choices.push_back(std::move(choice));
  }
  return choices;
}

}  // namespace mica
