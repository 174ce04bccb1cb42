#include "measure/explain.h"

#include <algorithm>

#include "measure/explain_step.h"
#include "runtime/row_program.h"

namespace mica {
namespace {

// How often a chain's program makes a call with the same arguments.
struct Made {
  const RowCall* call;
  int64_t count;
};

// Of all stages of the segment that have a choice.
class Explainer {
 public:
  explicit Explainer(const Plan& plan) : plan_(plan) {}

  void add_step(const BoundStep& step) {
    if (step.kernel == run_rows)
      add_chain(step);
    else if (Explanation found; explain_any_step(step.kernel, step.arguments, text_, found))
      choices.push_back(choice_of(step.stage, step.name, found));
  }

  std::vector<StageChoice> choices;

 private:
  StageChoice choice_of(uint32_t s, std::string_view kernel, const Explanation& found) const {
    const Stage& stage = plan_.functions[0].stages[s];
    return {.name = std::string(plan_.name(stage.name)),
            .op = std::string(stage.op->name),
            .kernel = std::string(kernel),
            .choice = std::string(text_, found.length),
            .can_force = found.can_force,
            .is_forced = found.is_forced,
            .is_tuned = found.is_tuned};
  }

  void add_chain(const BoundStep& step) {
    const auto& program = *static_cast<const RowProgram*>(step.arguments);
    const std::span calls(program.calls, program.strip_begin[program.strips]);
    std::vector<std::vector<Made>> made(step.stage - step.first_stage + 1);
    for (const RowCall& call : calls) {
      std::vector<Made>& own = made[call.stage];
      const auto same = [&](const Made& m) { return m.call->arguments == call.arguments; };
      const auto known = std::find_if(own.begin(), own.end(), same);
      if (known == own.end())
        own.push_back({&call, 1});
      else
        ++known->count;
    }
    for (uint32_t s = 0; s < made.size(); ++s) add_rows(step.first_stage + s, made[s]);
  }

  // A stage of a chain has a choice for each number of rows that its calls make. That of the most calls is told; forced
  // is a stage whose every choice is, of those that can be.
  void add_rows(uint32_t s, const std::vector<Made>& made) {
    StageChoice most;
    int64_t most_calls = 0;
    bool can = false, misses = false;
    for (const Made& m : made) {
      Explanation found;
      if (!explain_any_step(m.call->kernel, m.call->arguments, text_, found)) continue;
      can = can || found.can_force;
      misses = misses || (found.can_force && !found.is_forced);
      if (m.count <= most_calls) continue;
      most_calls = m.count;
      most = choice_of(s, "row_chain", found);
    }
    if (most_calls == 0) return;
    most.can_force = can;
    most.is_forced = can && !misses;
    choices.push_back(std::move(most));
  }

  const Plan& plan_;
  char text_[4096];
};

}  // namespace

Result<std::vector<StageChoice>> explain(Session& session) {
  MICA_TRY_STATUS(session.prepare());
  const BoundSegment* segment = session.runner().last_segment();
  Explainer explainer(session.model().plan());
  for (const BoundStep& step : segment ? std::span<const BoundStep>(segment->steps) : std::span<const BoundStep>())
    explainer.add_step(step);
  return std::move(explainer.choices);
}

}  // namespace mica
