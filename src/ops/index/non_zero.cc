#include "types/operand.h"

namespace mica {
namespace {

Status infer(InferScope& scope) {
  const Shape& in = scope.shape(0);
  scope.out(0, DType::kI64,
            Shape{in.known() ? Dim(in.rank) : scope.dims().fresh("rank"), scope.dims().fresh("non_zero")});
  return {};
}

// Which elements are set; a NaN is not zero. Booleans and floats are looked at where they lie.
struct SetElements {
  explicit SetElements(const TensorView& v) : view(v), elements(v), dense(v.contiguous()) {}
  bool operator[](int64_t i) const {
    const DType dtype = view.dtype;
    if (dense && dtype == DType::kBool) return view.as<const uint8_t>()[i] != 0;
    if (dense && dtype == DType::kF32) return view.as<const uint32_t>()[i] << 1 != 0;  // -0 is zero
    if (dtype == DType::kString) return elements.text(i).size != 0;
    if (is_float(dtype) || kind_of(dtype) == NumberKind::kComplex) return elements.number(i) != 0;
    return elements.integer(i) != 0;
  }
  const TensorView& view;
  Elements elements;
  bool dense;
};

Status reference(RunScope& scope) {
  const TensorView& in = scope.in(0);
  const SetElements set(in);
  const int64_t total = in.count();
  int64_t found = 0;
  for (int64_t i = 0; i < total; ++i) found += set[i];
  const int64_t dims[] = {in.rank, found};
  MICA_TRY_STATUS(scope.allocate_output(0, dims));
  const TensorView& out = scope.out(0);
  for (int64_t i = 0, to = 0; i < total; ++i) {
    if (!set[i]) continue;
    int64_t rest = i;
    for (int k = in.rank; k-- > 0; rest /= in.dim(k)) {
      const int64_t place[] = {k, to};
      store_int(out.dtype, element_at(out, place), rest % in.dim(k));
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
