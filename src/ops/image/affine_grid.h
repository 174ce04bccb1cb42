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

// Element i of an axis of a picture as a coordinate in [-1, 1].
inline double affine_coordinate(int64_t i, int64_t size, bool align_corners) {
  const double x = static_cast<double>(i), n = static_cast<double>(size);
  if (align_corners) return size > 1 ? 2 * x / (n - 1) - 1 : -1;
  return (2 * x + 1) / n - 1;
}

}  // namespace mica
