// Where the boxes of a diagram stand: layers from top to bottom, arrows going down.
#pragma once
#include "export/diagram.h"

namespace mica {

struct Position {
  double x = 0, y = 0, width = 0, height = 0;  // x, y: the upper left corner
};

// Layers by the longest way from a box without arrows into it; within a layer, boxes stand near what they are joined to
// (barycentres, after Sugiyama, Tagawa and Toda, 1981). Goals: readable, linear in arrows. Non-goal: fewest crossings.
std::vector<Position> layout(const Diagram& diagram);

}  // namespace mica
