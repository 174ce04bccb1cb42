#include "ops/move/view.h"

namespace mica::move {

bool reshape_view(const TensorView& in, std::span<const int64_t> dims, TensorView& out) {
  if (is_sub_byte(in.dtype)) return false;
  TensorView result = in;
  result.rank = static_cast<int>(dims.size());
  std::copy(dims.begin(), dims.end(), result.dims.begin());
  set_dense_strides(result);
  if (result.count() != in.count()) return false;
  int64_t size[kMaxRank], stride[kMaxRank];
  int count = 0;
  for (int i = 0; i < in.rank; ++i) {
    if (in.dim(i) == 1) continue;
    size[count] = in.dim(i);
    stride[count++] = in.stride(i);
  }
  int b = 0;
  for (int a = 0; a < count && !in.empty();) {
    int a_end = a + 1, b_end = b;
    int64_t from = size[a], to = 1;
    while (from != to) {
      if (to < from)
        to *= result.dim(b_end++);
      else
        from *= size[a_end++];
    }
    for (int i = a; i + 1 < a_end; ++i)
      if (stride[i] != stride[i + 1] * size[i + 1]) return false;
    int64_t step = stride[a_end - 1];
    for (int i = b_end; i-- > b;) {
      result.strides[static_cast<size_t>(i)] = step;
      step *= result.dim(i);
    }
    a = a_end;
    b = b_end;
  }
  out = result;
  return true;
}

Status copy_linear(RunScope& scope, const TensorView& from, const TensorView& to) {
  TensorView same;
  if (reshape_view(from, to.shape(), same)) {
    copy_elements(same, to);
    return {};
  }
  if (reshape_view(to, from.shape(), same)) {
    copy_elements(from, same);
    return {};
  }
  MICA_TRY(void* memory, scope.allocate(static_cast<size_t>(dense_bytes(from.dtype, from.shape()))));
  const TensorView dense = dense_view(memory, from.dtype, from.shape());
  copy_elements(from, dense);
  copy_elements(dense_view(memory, to.dtype, to.shape()), to);
  return {};
}

Status copy_reshaped(RunScope& scope) {
  MICA_TRY(TensorView from, wide_input(scope, 0));
  MICA_TRY(TensorView to, wide_output(scope, 0));
  MICA_TRY_STATUS(copy_linear(scope, from, to));
  finish_output(scope, 0, to);
  return {};
}

bool view_reshaped(const RunScope& scope, const TensorView& in, TensorView& out, int) {
  return reshape_view(in, scope.out(0).shape(), out);
}

}  // namespace mica::move
