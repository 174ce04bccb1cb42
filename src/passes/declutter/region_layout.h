// How conditions, loops and scans hand values to their regions.
#pragma once
#include "ir/graph.h"

namespace mica {

// Where the operands of a node with regions stand among those of its regions, and what it carries.
struct RegionLayout {
  size_t lead = 0;                                  // operands of the node before those that its regions take
  size_t first = 0, first_result = 0, carried = 0;  // in the region
  size_t captures = 0;                              // the first of them, in the region
};
// False for other operators, and for those of another form.
bool region_layout(Node& node, RegionLayout& layout);

}  // namespace mica
