#pragma once
#include "types/attr.h"

namespace mica {

struct AffineGrid {
  bool align_corners = false;
  template <class V>
  void visit(V&& v) {
    v("align_corners", align_corners, "-1 and 1 are the middles of the corner elements, else their outer edges");
  }
};

}  // namespace mica
