// A model at any stage as boxes and arrows: what pictures, JSON and pages are made from.
#pragma once
#include <string>
#include <utility>
#include <vector>

#include "ir/graph.h"
#include "plan/plan.h"
#include "runtime/bound.h"

namespace mica {

struct Diagram {
  enum class Kind { kInput, kOutput, kConstant, kNode };
  using Facts = std::vector<std::pair<std::string, std::string>>;  // what, and its value
  struct Box {
    std::string title;  // an operator, or "input"
    std::string name;   // of the source model
    Kind kind = Kind::kNode;
    std::string group;  // "" for the main graph; else the region or function it stands in
    Facts facts;
  };
  struct Arrow {
    size_t from = 0, to = 0;
    std::string label;  // type of what flows
    std::string value;  // its name
  };
  std::string title;
  Facts facts;
  std::vector<Box> boxes;
  std::vector<Arrow> arrows;
};

// Constants are boxes only where `constants` says so; otherwise they are facts of the nodes that read them. May throw
// Failure.
Diagram diagram_of(const Graph& graph, bool constants = false);
Diagram diagram_of(const Plan& plan);
// With kernels, places and sizes of the segment that the main function begins with.
Diagram diagram_of(const Plan& plan, const BoundSegment& segment);

// The plan as text that people read; with `segment` the bound form of the main function behind it.
std::string plan_text(const Plan& plan, const BoundSegment* segment = nullptr);

std::string to_json(const Diagram& diagram);
std::string to_dot(const Diagram& diagram);
// One page without outside parts: pan, zoom, search, and the facts of a box by a click.
std::string to_html(const Diagram& diagram);

}  // namespace mica
