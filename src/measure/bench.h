// How long runs take, as a whole and stage by stage.
#pragma once
#include <functional>
#include <string>
#include <vector>

#include "runtime/session.h"

namespace mica {

struct BenchOptions {
  double seconds = 2;     // of timed runs, after a warm-up of a tenth of it
  int64_t warm_runs = 0;  // and of at least so many runs
  int64_t least_runs = 5;
  bool layers = false;  // also time the stages, in runs of their own
  std::function<void(double share)> progress;
};

struct LayerTime {
  std::string name, op, kernel;
  int64_t begin_ns = 0;  // of the run it was taken from, from its beginning
  double ms = 0;         // median
  double min_ms = 0;     // the fastest run
  double share = 0;      // of the sum of all
  int64_t flops = 0, bytes = 0, constant_bytes = 0;
  bool bytes_product = false;
};

struct BenchResult {
  double median_ms = 0, min_ms = 0, p90_ms = 0, mean_ms = 0, deviation_ms = 0, first_ms = 0;
  int64_t runs = 0, flops = 0;
  std::vector<LayerTime> layers;
};

// The session has its inputs; their contents stay. Every run begins from the states that the session came with, which
// it has again behind the measurement: all runs do the same work, and a state that grows stays within its bound.
// Putting them back is not in the times, which are of the monotonic clock. Errors: those of the run.
Result<BenchResult> bench(Session& session, const BenchOptions& options);

// The stages of one run in the order in which they were computed, after one run to warm up.
Result<std::vector<LayerTime>> profile(Session& session, int64_t runs = 1);

}  // namespace mica
