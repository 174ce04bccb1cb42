// What normalisations over rows of elements share. A row is a run of elements in source order.
#pragma once
#include <cmath>

#include "types/infer.h"

namespace mica::norm {

struct Moments {
  double mean, variance;
};
inline Moments moments_of(const Elements& x, int64_t start, int64_t n) {
  Moments m{0, 0};
  for (int64_t i = 0; i < n; ++i) m.mean += x.number(start + i) / static_cast<double>(n);
  for (int64_t i = 0; i < n; ++i) {
    const double d = x.number(start + i) - m.mean;
    m.variance += d * d / static_cast<double>(n);
  }
  return m;
}

// Elements of axes first ... last - 1.
inline int64_t count_between(const TensorView& x, int first, int last) {
  int64_t n = 1;
  for (int i = first; i < last; ++i) n *= x.dim(i);
  return n;
}

// The element of `view` that broadcasts to element `linear` (in source order) of a tensor like `full`.
inline double broadcast_number(const TensorView& view, const TensorView& full, int64_t linear) {
  int64_t index[kMaxRank];
  for (int i = full.rank; i-- > 0;) {
    index[i] = linear % full.dim(i);
    linear /= full.dim(i);
  }
  int64_t own[kMaxRank];
  for (int i = 0; i < view.rank; ++i) own[i] = view.dim(i) == 1 ? 0 : index[full.rank - view.rank + i];
  return Elements(view).number_at(own);
}

// An operand that must broadcast to x without making it larger.
inline Status require_broadcasts_to(const InferScope& scope, int input) {
  MICA_TRY_STATUS(require_float(scope, input));
  const Shape &x = scope.shape(0), &p = scope.shape(input);
  if (!x.known() || !p.known()) return {};
  bool fits = p.rank <= x.rank;
  for (int i = 1; fits && i <= p.rank; ++i) {
    const Dim own = p[p.rank - i], full = x[x.rank - i];
    fits = own.is(1) || !own.is_fixed() || !full.is_fixed() || own == full;
  }
  MICA_CHECK(fits, kBadShape, "input {} does not broadcast to the shape of input 0", input);
  return {};
}

// One number per channel (axis 1).
inline Status require_per_channel(const InferScope& scope, int input) {
  MICA_TRY_STATUS(require_float(scope, input));
  MICA_TRY_STATUS(require_rank(scope, input, 1, 1));
  const Shape &x = scope.shape(0), &p = scope.shape(input);
  if (!x.known() || !p.known() || !x[1].is_fixed() || !p[0].is_fixed()) return {};
  MICA_CHECK(x[1] == p[0], kBadShape, "input {} has {} numbers for {} channels", input, p[0].value(), x[1].value());
  return {};
}

}  // namespace mica::norm
