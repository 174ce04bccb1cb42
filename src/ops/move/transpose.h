#pragma once
#include "types/attr.h"

namespace mica {

struct Transpose {
  Ints perm;  // empty: the axes reversed
  template <class V>
  void visit(V&& v) {
    v("perm", perm, "axis i of the result is axis perm[i] of the input; empty reverses them");
  }
};

// [N, C, …] as [N, …, C], and back; of two axes or more.
inline Ints channels_last_order(int rank) {
  Ints order{0};
  for (int i = 2; i < rank; ++i) order.push(i);
  order.push(1);
  return order;
}
inline Ints channels_first_order(int rank) {
  Ints order{0, rank - 1};
  for (int i = 1; i + 1 < rank; ++i) order.push(i);
  return order;
}

// `perm` for a tensor of `rank`, checked to be a permutation.
Result<Ints> axis_order(const Transpose& attributes, int rank);

}  // namespace mica
