#pragma once
#include "types/attr.h"
#include "types/tensor.h"

namespace mica {

struct Col2Im {
  Ints strides, pads, dilations;
  template <class V>
  void visit(V&& v) {
    v("strides", strides, "step of the blocks per image axis; empty: 1");
    v("pads", pads, "zeros around the image that blocks may cover: all begins, then all ends; empty: 0");
    v("dilations", dilations, "step inside of a block per image axis; empty: 1");
  }
};

// Numbers of each image axis; `steps`: places of blocks along it.
struct Col2ImGeometry {
  int rank = 0;
  int64_t image[kMaxRank], block[kMaxRank], steps[kMaxRank], stride[kMaxRank], dilation[kMaxRank], begin[kMaxRank];
  int64_t block_size = 1, places = 1;
};

// Errors: kBadShape, kBadValue, kBadAttribute.
Result<Col2ImGeometry> col2im_geometry(const Col2Im& attributes, const TensorView& image_shape,
                                       const TensorView& block_shape);

}  // namespace mica
