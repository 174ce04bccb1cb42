// Two forms of a model on the same inputs: how far apart their results are, and where they part.
#pragma once
#include <string>
#include <vector>

#include "runtime/session.h"

namespace mica {

struct CompareOptions {
  // A value differs when |a - b| > max(absolute, relative · max|a|) for some element, when one is NaN and the other is
  // not, or when infinities differ. Integers, bools and texts of equal models are equal: they differ as soon as an
  // element does.
  double relative = 1e-4, absolute = 1e-6;
  bool stages = true;  // look for the first stage that differs
  // Of the first form's run; 0: no limit. Behind them, the last values that it had made are compared, and no outputs.
  // With a limit, outputs that differ are followed by a look for the stage.
  double seconds = 0;
};

struct ValueError {
  std::string name;
  std::string reason;                        // of another type or shape; else empty
  double max_abs = 0, max_ref = 0, rms = 0;  // the largest |a - b|, the largest |a|, the root of the mean (a - b)²
  int64_t elements = 0, wrong = 0;           // how many are beyond the tolerance
  int64_t finite = 0;                        // how many are finite in both
  bool nan = false;                          // NaN in one and not in the other
  bool same_best = true;                     // the largest element stands at the same place
  bool different = false;
};

struct CompareResult {
  std::vector<ValueError> outputs;
  bool different = false;
  int64_t elements = 0, finite = 0;  // of the outputs together; of the values inside where the run was cut
  // NaN is equal to NaN; but where nothing else was compared, that two forms agree is not shown.
  bool shows_nothing() const { return !different && elements > 0 && finite == 0; }
  size_t compared = 0;         // values inside that both forms have, as far as they were kept
  bool cut = false;            // the first form's run took longer than it might
  size_t ran = 0, stages = 0;  // how many of the first form's stages had run, where they were watched
  // Of the second form, the first stage whose result differs; empty when none does.
  std::string first_stage, first_op, first_kernel;
  ValueError first;
};

ValueError compare_values(std::string name, const TensorView& a, const TensorView& b, const CompareOptions& options);

// Runs `a`, then `b`, whose inputs are set. Values inside are matched by the names that the source model gave them;
// those of `a` are kept meanwhile, which takes memory: with a limit of time, the last 256 MiB. Errors: those of the
// runs; kMismatch when the models have no output of the same name.
Result<CompareResult> compare(Session& a, Session& b, const CompareOptions& options = {});

}  // namespace mica
