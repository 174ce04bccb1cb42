// Which algorithms are faster than those that bind predicts: measured, for a file of choices (step/tuning.h).
//
// Every algorithm is measured where it will run, in the model, behind and before the stages that surround it: what it
// finds in the caches is what it will find there. Session k takes, for each problem, the k-th of the candidates; the
// sessions run in turns. Times are processor time of the thread, so that waiting for others does not count.
#pragma once
#include <functional>
#include <string>
#include <vector>

#include "runtime/session.h"

namespace mica {

struct TuneOptions {
  double seconds = 1;
  // A new session with its inputs set, that lives until tune returns.
  std::function<Result<Session*>(RowChainMode)> make;
  const Tuning* known = nullptr;  // choices for problems that are not met here stay
  std::function<void(double share)> progress;
};

struct TunedProblem {
  struct Candidate {
    std::string algorithm;
    double predicted_kcycles = 0, ms = 0;
  };
  std::string problem;
  int64_t stages = 0;
  std::vector<Candidate> candidates;  // the first is the predicted best
  size_t best = 0;
};

struct TuneResult {
  std::vector<TunedProblem> problems;
  int64_t turns = 0;
  double before_ms = 0, after_ms = 0;  // medians of whole runs; 0 when no choice differs
  bool kept = false;                   // there are such, and the whole run is not slower with them
  std::string text;                    // of the file
};

// Errors: kUsage for a context of several threads, or with Machine::force; those of binding and running.
Result<TuneResult> tune(const TuneOptions& options);

}  // namespace mica
