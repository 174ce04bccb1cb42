#pragma once
#include "types/attr.h"

namespace mica {

struct Stft {
  bool onesided = true;
  template <class V>
  void visit(V&& v) {
    v("onesided", onesided, "only the first half of each spectrum");
  }
};

}  // namespace mica
