// One graph run in two ways.
#pragma once
#include <string>

#include "support/run_graph.h"

namespace mica::support {

// The answers of a graph in IR text by the references as it is written, and in other ways; they may differ by `units`
// rounding errors of an output's largest magnitude.
class Answers {
 public:
  Answers(std::string text, uint64_t seed, double units);
  // Whether there are any, all of them finite.
  bool comparable() const { return comparable_; }
  // What differs when the graph runs with `options` (whose seed is not read); empty when nothing does, or when rounding
  // alone changes as much.
  std::string difference(RunOptions options) const;

 private:
  bool trembles() const;

  std::string text_;
  uint64_t seed_;
  double units_;
  std::vector<OwnedTensor> wanted_;
  bool comparable_ = false;
};

}  // namespace mica::support
