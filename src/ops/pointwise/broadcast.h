// Element-wise references of operators that are no Pointwise function: walking broadcast operands.
#pragma once
#include <cstring>

#include "types/infer.h"
#include "types/stop.h"

namespace mica::pointwise {

// The dimensions that the first `count` present inputs broadcast to. Errors: kBadShape.
Status broadcast_dims(const RunScope& scope, int count, int64_t* dims, int& rank);

// Makes output 0 of the broadcast shape of the first `count` inputs.
Status allocate_broadcast(RunScope& scope, int count);

// The index within `view` of the element that stands at `index` of the broadcast shape with `rank` axes.
inline const int64_t* own_index(const TensorView& view, int rank, const int64_t* index, int64_t* own) {
  for (int i = 0; i < view.rank; ++i) own[i] = view.dim(i) == 1 ? 0 : index[rank - view.rank + i];
  return own;
}

// Calls f(index of output 0, index in input 0, ...) for every element of output 0; `count` operands, at most 3. f
// returns nothing, or a Status that ends the walk where it is an error.
template <class F>
Status for_each_broadcast(RunScope& scope, int count, F&& f) {
  const TensorView& out = scope.out(0);
  if (out.empty()) return {};
  StopCheck stop(scope);
  int64_t index[kMaxRank] = {}, own[3][kMaxRank] = {};
  do {
    MICA_TRY_STATUS(stop.before(1));
    for (int i = 0; i < count; ++i) own_index(scope.in(i), out.rank, index, own[i]);
    if constexpr (std::is_void_v<decltype(f(index, own[0], own[1], own[2]))>)
      f(index, own[0], own[1], own[2]);
    else
      MICA_TRY_STATUS(f(index, own[0], own[1], own[2]));
  } while (next_index(index, out.shape()));
  return {};
}

// Copies one element between tensors of one type.
inline void move_element(const TensorView& from, const int64_t* i, const TensorView& to, const int64_t* j) {
  if (is_sub_byte(from.dtype) && is_float(from.dtype))
    return Elements(to).set_number_at(j, Elements(from).number_at(i));
  if (is_sub_byte(from.dtype)) return Elements(to).set_integer_at(j, Elements(from).integer_at(i));
  std::memcpy(Elements(to).address_at(j), Elements(from).address_at(i), static_cast<size_t>(element_bytes(from.dtype)));
}

}  // namespace mica::pointwise
