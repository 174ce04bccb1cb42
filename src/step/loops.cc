#include "step/loops.h"

namespace mica {

void PairLoops::merge() {
  for (int i = 1; i < count; ++i)
    for (int j = i; j > 0 && a[j - 1] < a[j]; --j) {
      std::swap(dims[j], dims[j - 1]);
      std::swap(a[j], a[j - 1]);
      std::swap(b[j], b[j - 1]);
    }
  int last = 0;
  for (int i = 1; i < count; ++i) {
    const bool even = a[last] == a[i] * dims[i] && b[last] == b[i] * dims[i];
    const int64_t merged = even ? dims[last] * dims[i] : dims[i];
    if (!even) ++last;
    dims[last] = merged;
    a[last] = a[i];
    b[last] = b[i];
  }
  if (count) count = last + 1;
}

}  // namespace mica
