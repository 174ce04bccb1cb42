// What no pattern describes: folding, common subexpressions, dead code.
#pragma once
#include "passes/declutter/declutter.h"

namespace mica {

struct SimplifyPass {
  std::string_view name, doc;
  int64_t (*run)(Graph&, const DeclutterOptions&);  // returns how much it changed
};
std::span<const SimplifyPass> simplify_passes();

// Takes out nodes that nobody reads; returns how many.
int64_t remove_dead(Graph& graph);
// `cond` nodes whose condition is known give way to the branch that is taken (branches.cc); returns how many.
int64_t inline_branches(Graph& graph, const DeclutterOptions& options);
// Concatenations take shorter ones of the same first parts (joined.cc); returns how many.
int64_t share_joined(Graph& graph, const DeclutterOptions& options);
// Regions take constants, and what a loop does not change, in the simplest way (regions.cc); returns how many.
int64_t settle_regions(Graph& graph, const DeclutterOptions& options);
// Products of what a loop's turns do not change go in front of it (invariants.cc); returns how many nodes moved.
int64_t move_invariants(Graph& graph, const DeclutterOptions& options);
// Strides of one-tap convolutions go to the convolutions in front of them (strides.cc); returns how many values shrank.
int64_t pull_strides(Graph& graph, const DeclutterOptions& options);
// Types and contents of all nodes anew, in order; rules can make more of them known.
void infer_again(Graph& graph);

}  // namespace mica
