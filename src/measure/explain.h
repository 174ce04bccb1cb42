// Which algorithm each convolution and each product of matrices was given, and why.
#pragma once
#include <string>
#include <vector>

#include "runtime/session.h"

namespace mica {

struct StageChoice {
  std::string name, op, kernel;
  std::string choice;      // the kernels' own words
  bool can_force = false;  // the forced algorithm, if one is, could do this,
  bool is_forced = false;  // and does it
  bool is_tuned = false;   // a measured choice (step/tuning.h), not a predicted one
};

// Of the segment of the main function that was bound last: of all stages, where no shape depends on data. Binds, but
// does not run. Errors: those of binding.
Result<std::vector<StageChoice>> explain(Session& session);

}  // namespace mica
