#pragma once
#include "types/attr.h"

namespace mica {

struct RoiAlign {
  int64_t height = 1, width = 1, sampling = 0;
  float scale = 1;
  bool max = false, half_pixel = true;
  template <class V>
  void visit(V&& v) {
    v("height", height, "rows of the result");
    v("width", width, "columns of the result");
    v("sampling", sampling, "samples of a bin per axis; 0: as many as elements under it");
    v("scale", scale, "from the regions' coordinates to the input's");
    v("max", max, "the largest sample of a bin, else their mean");
    v("half_pixel", half_pixel, "elements lie at half coordinates");
  }
};

}  // namespace mica
