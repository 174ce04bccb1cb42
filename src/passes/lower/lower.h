// Graph → plan.
//
// Goal: one stage per node that is left after fusion, every value with its physical order, constants shared. Non-goals:
// rewriting (declutter's), memory and kernels (bind's). Cost: linear in nodes and constants.
#pragma once
#include "ir/graph.h"
#include "plan/plan.h"

namespace mica {

// A plan and what owns its constants' bytes.
struct Lowered {
  Plan plan;
  std::shared_ptr<const void> keep;
};

struct LowerOptions {
  bool fuse = true;           // activations and residuals into epilogues
  bool chains = true;         // runs of element-wise nodes that no epilogue takes
  bool channels_last = true;  // physical order of image values
  bool pack = true;           // weights in the form that their stages read
};

// Consumes the graph: its table of dimensions becomes the plan's. Throws Failure.
Lowered lower(Graph graph, const LowerOptions& options = {});

}  // namespace mica
