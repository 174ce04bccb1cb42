// Granularity of quantization: which scale belongs to which element.
#pragma once
#include "types/infer.h"

namespace mica {

// Scales are one number; or one per slice of `axis` (rank 1); or one per block of `block` elements along `axis` (the
// rank of x).
struct QuantizeAxis {
  int64_t axis = 1;
  int64_t block = 0;
};

namespace quant {

// Of n elements; a block may be as large as a number can be.
inline int64_t blocks_of(int64_t n, int64_t block) { return n > 0 ? (n - 1) / block + 1 : 0; }

// Checks scales and zero points against x. Errors: kBadShape, kBadAttribute.
inline Status infer_scales(const InferScope& scope, const QuantizeAxis& q, int zero_point) {
  MICA_TRY_STATUS(require_tensor(scope, 0));
  if (scope.dtype(1) != DType::kI32) MICA_TRY_STATUS(require_float(scope, 1));
  const Shape &x = scope.shape(0), &scales = scope.shape(1);
  MICA_CHECK(q.block >= 0, kBadAttribute, "`block` is {}", q.block);
  if (scope.has(zero_point)) {
    const Shape& zeros = scope.shape(zero_point);
    const bool differ = zeros.fixed() && scales.fixed() && !(zeros == scales);
    // A scale of one element may have a zero point of any rank with one element.
    if (differ) {
      MICA_TRY(const int64_t n, element_count(zeros));
      MICA_TRY(const int64_t m, element_count(scales));
      MICA_CHECK(n == 1 && m == 1, kBadShape, "zero points and scales differ in shape");
    }
  }
  if (!x.known() || !scales.known() || scales.rank == 0 || (scales.rank == 1 && scales[0].is(1))) return {};
  if (x.rank == 1 && scales.rank == 1 && q.block == 0) {
    const bool differ = x[0].is_fixed() && scales[0].is_fixed() && !(x[0] == scales[0]);
    MICA_CHECK(!differ, kBadShape, "{} scales for {} elements", scales[0].value(), x[0].value());
    return {};
  }
  MICA_TRY(const int axis, normalize_axis(q.axis, x.rank));
  if (q.block == 0) {
    MICA_CHECK(scales.rank == 1, kBadRank, "scales need 0 or 1 dimensions without blocks, got {}",
               static_cast<int>(scales.rank));
    const bool differ = x[axis].is_fixed() && scales[0].is_fixed() && !(x[axis] == scales[0]);
    MICA_CHECK(!differ, kBadShape, "{} scales for {} slices of axis {}", scales[0].value(), x[axis].value(), axis);
    return {};
  }
  MICA_CHECK(scales.rank == x.rank, kBadRank, "block scales need {} dimensions, got {}", static_cast<int>(x.rank),
             static_cast<int>(scales.rank));
  for (int i = 0; i < x.rank; ++i) {
    if (!x[i].is_fixed() || !scales[i].is_fixed()) continue;
    const int64_t blocks = i == axis ? blocks_of(x[i].value(), q.block) : x[i].value();
    MICA_CHECK(scales[i].value() == blocks, kBadShape, "scales have {} blocks along axis {}, expected {}",
               scales[i].value(), i, blocks);
  }
  return {};
}

// The linear index of the scale of element `index` of x.
class ScaleIndex {
 public:
  ScaleIndex(const TensorView& x, const TensorView& scales, const QuantizeAxis& q) : scales_(scales), block_(q.block) {
    single_ = scales.count() == 1;
    axis_ = x.rank == 0 ? 0 : static_cast<int>(q.axis < 0 ? q.axis + x.rank : q.axis);
    if (axis_ >= x.rank || axis_ < 0) axis_ = 0;  // x of rank 1: the attribute has no meaning
  }
  int64_t of(const int64_t* index) const {
    if (single_) return 0;
    if (block_ == 0) return index[axis_];
    int64_t linear = 0;
    for (int i = 0; i < scales_.rank; ++i)
      linear = linear * scales_.dim(i) + (i == axis_ ? index[i] / block_ : index[i]);
    return linear;
  }

 private:
  TensorView scales_;
  int64_t block_;
  int axis_ = 0;
  bool single_ = false;
};

}  // namespace quant
}  // namespace mica
