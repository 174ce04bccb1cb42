// Attributes of rotary position embedding.
#pragma once
#include "types/attr.h"

namespace mica {

struct RotaryEmbedding {
  int64_t heads = 0, size = 0;
  bool interleaved = false;
  template <class V>
  void visit(V&& v) {
    v("heads", heads, "number of heads, for operands of 3 dimensions");
    v("size", size, "how many elements of each head are rotated; 0: all");
    v("interleaved", interleaved, "pairs are neighbours, not one of each half");
  }
};

}  // namespace mica
