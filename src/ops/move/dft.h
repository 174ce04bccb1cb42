#pragma once
#include "types/attr.h"

namespace mica {

struct Dft {
  bool inverse = false, onesided = false;
  template <class V>
  void visit(V&& v) {
    v("inverse", inverse, "the inverse transform, divided by its length");
    v("onesided", onesided, "of a real signal, only the first half of the spectrum");
  }
};

}  // namespace mica
