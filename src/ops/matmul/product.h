// NumPy's matrix product: the last two axes are matrices, the others broadcast; vectors are a row on the left, a column
// on the right, and their axis does not appear in the result.
#pragma once
#include "types/infer.h"

namespace mica::matmul {

// Errors: kBadRank for scalars, kBadShape when inner dimensions or batches disagree.
Result<Shape> product_shape(InferScope& scope, int a_input, int b_input);

// Numbers of one product: C[batch, m, n] = A[batch, m, k] · B[batch, k, n].
struct Product {
  int64_t m = 1, n = 1, k = 1;
  int batch_rank = 0;
  std::array<int64_t, kMaxRank> batch{};             // of the result
  std::array<int64_t, kMaxRank> a_step{}, b_step{};  // matrices from one index of that axis to the next; 0: repeated
  int rank = 0;
  std::array<int64_t, kMaxRank> dims{};  // of the result
  int64_t batches() const {
    int64_t count = 1;
    for (int i = 0; i < batch_rank; ++i) count *= batch[static_cast<size_t>(i)];
    return count;
  }
  std::span<const int64_t> out_dims() const { return {dims.data(), static_cast<size_t>(rank)}; }
  std::span<const int64_t> batch_dims() const { return {batch.data(), static_cast<size_t>(batch_rank)}; }
};

// Steps of an operand's batch axes along those of the result.
void batch_steps(std::span<const int64_t> shape, int batch_rank, std::array<int64_t, kMaxRank>& steps);

Result<Product> product_of(std::span<const int64_t> a, std::span<const int64_t> b);

// c is zeroed before; operands are dense. T: double or uint64_t (modulo 2^64). Stops between two rows when the
// run is to.
template <class T>
Status multiply(RunScope& scope, const Product& p, const T* a, const T* b, T* c);
// Unsigned arithmetic wraps where signed would be undefined; the low bits are the same.
inline Status multiply(RunScope& scope, const Product& p, const int64_t* a, const int64_t* b, int64_t* c) {
  return multiply(scope, p, reinterpret_cast<const uint64_t*>(a), reinterpret_cast<const uint64_t*>(b),
                  reinterpret_cast<uint64_t*>(c));
}

// Two operations for each element of the result and of the inner axis.
int64_t product_flops(const CostScope& scope, int a_input);

}  // namespace mica::matmul
