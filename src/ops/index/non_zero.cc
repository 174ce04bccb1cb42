#include "types/operand.h"

namespace mica {
namespace {

Status infer(InferScope& scope) {
  const Shape& in = scope.shape(0);
  scope.out(0, DType::kI64,
            Shape{in.known() ? Dim(in.rank) : scope.dims().fresh("rank"), scope.dims().fresh("non_zero")});
  return {};
}

// A NaN is not zero.
bool is_set(const Elements& elements, DType dtype, int64_t i) {
  if (dtype == DType::kString) return elements.text(i).size != 0;
  return is_float(dtype) || kind_of(dtype) == NumberKind::kComplex ? elements.number(i) != 0 : elements.integer(i) != 0;
}

Status reference(RunScope& scope) {
  const TensorView& in = scope.in(0);
  const Elements elements(in);
  const int64_t total = in.count();
  int64_t found = 0;
  for (int64_t i = 0; i < total; ++i) found += is_set(elements, in.dtype, i);
  const int64_t dims[] = {in.rank, found};
  MICA_TRY_STATUS(scope.allocate_output(0, dims));
  const TensorView& out = scope.out(0);
  int64_t at[kMaxRank] = {};
  for (int64_t i = 0, to = 0; i < total; ++i, next_index(at, in.shape())) {
    if (!is_set(elements, in.dtype, i)) continue;
    for (int k = 0; k < in.rank; ++k) {
      const int64_t place[] = {k, to};
      store_int(out.dtype, element_at(out, place), at[k]);
    }
    ++to;
  }
  return {};
}

}  // namespace

MICA_OP(non_zero) = {.name = "non_zero",
                     .doc = "The coordinates [rank, count] of the elements that are not zero, in source order",
                     .infer = infer,
                     .reference = reference};

}  // namespace mica
