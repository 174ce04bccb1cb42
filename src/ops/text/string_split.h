#pragma once
#include "types/attr.h"

namespace mica {

struct StringSplit {
  Name delimiter;  // empty: runs of white space
  int64_t max_splits = -1;
  template <class V>
  void visit(V&& v) {
    v("delimiter", delimiter, "what stands between parts; empty: any run of white space");
    v("max_splits", max_splits, "at most this many cuts; -1: no limit");
  }
};

}  // namespace mica
