#pragma once
#include "types/attr.h"

namespace mica {

struct GatherNd {
  int64_t batch_dims = 0;
  template <class V>
  void visit(V&& v) {
    v("batch_dims", batch_dims, "leading axes that data and indices share");
  }
};

}  // namespace mica
