#include "ops/matmul/product.h"

namespace mica::matmul {

Result<Shape> product_shape(InferScope& scope, int a_input, int b_input) {
  MICA_TRY_STATUS(require_rank(scope, a_input, 1, kMaxRank));
  MICA_TRY_STATUS(require_rank(scope, b_input, 1, kMaxRank));
  const Shape &a = scope.shape(a_input), &b = scope.shape(b_input);
  if (!a.known() || !b.known()) return Shape();
  const Dim a_inner = a.back(), b_inner = b.rank == 1 ? b[0] : b[b.rank - 2];
  if (a_inner.is_fixed() && b_inner.is_fixed() && a_inner != b_inner) {
    String left, right;
    MICA_TRY_STATUS(print(a, scope.dims(), left));
    MICA_TRY_STATUS(print(b, scope.dims(), right));
    return error(Code::kBadShape, "the inner dimensions of {} and {} differ: {} and {}", left, right, a_inner.value(),
                 b_inner.value());
  }
  const auto batch_of = [](const Shape& s) {
    return Shape(s.span().first(static_cast<size_t>(std::max(0, s.rank - 2))));
  };
  MICA_TRY(Shape out, broadcast(batch_of(a), batch_of(b), scope.dims()));
  if (a.rank > 1) out.push(a[a.rank - 2]);
  if (b.rank > 1) out.push(b.back());
  return out;
}

void batch_steps(std::span<const int64_t> shape, int batch_rank, std::array<int64_t, kMaxRank>& steps) {
  int64_t step = 1;
  const int own = static_cast<int>(shape.size()) - 2;
  for (int i = own - 1; i >= 0; --i) {
    const int64_t dim = shape[static_cast<size_t>(i)];
    steps[static_cast<size_t>(batch_rank - own + i)] = dim == 1 ? 0 : step;
    step *= dim;
  }
}

Result<Product> product_of(std::span<const int64_t> a, std::span<const int64_t> b) {
  MICA_CHECK(!a.empty() && !b.empty(), kBadRank, "a matrix product of scalars");
  Product p;
  p.k = a.back();
  p.m = a.size() > 1 ? a[a.size() - 2] : 1;
  p.n = b.size() > 1 ? b.back() : 1;
  const int64_t inner = b.size() > 1 ? b[b.size() - 2] : b[0];
  MICA_CHECK(inner == p.k, kBadShape, "inner dimensions {} and {} differ", p.k, inner);
  p.batch_rank = static_cast<int>(std::max<size_t>(2, std::max(a.size(), b.size()))) - 2;
  for (int i = 0; i < p.batch_rank; ++i) {
    const auto dim = [&](std::span<const int64_t> s) {
      const int at = static_cast<int>(s.size()) - 2 - p.batch_rank + i;
      return at < 0 ? 1 : s[static_cast<size_t>(at)];
    };
    const int64_t x = dim(a), y = dim(b);
    MICA_CHECK(x == y || x == 1 || y == 1, kBadShape, "batches {} and {} do not broadcast", x, y);
    p.batch[static_cast<size_t>(i)] = p.dims[static_cast<size_t>(p.rank++)] = x == 1 ? y : x;
  }
  batch_steps(a, p.batch_rank, p.a_step);
  batch_steps(b, p.batch_rank, p.b_step);
  if (a.size() > 1) p.dims[static_cast<size_t>(p.rank++)] = p.m;
  if (b.size() > 1) p.dims[static_cast<size_t>(p.rank++)] = p.n;
  return p;
}

// Two numbers at a time also where code is small: constants are folded by this loop.
template <class T>
void add_scaled(T factor, const T* row, int64_t n, T* sums) {
  using Pair [[gnu::vector_size(2 * sizeof(T)), gnu::aligned(sizeof(T)), gnu::may_alias]] = T;
  int64_t j = 0;
  for (; j + 2 <= n; j += 2) *reinterpret_cast<Pair*>(sums + j) += factor * *reinterpret_cast<const Pair*>(row + j);
  if (j < n) sums[j] += factor * row[j];
}

template <class T>
Status multiply(RunScope& scope, const Product& p, const T* a, const T* b, T* c) {
  if (p.batches() == 0 || p.m == 0 || p.n == 0) return {};
  std::array<int64_t, kMaxRank> at{};
  do {
    int64_t a_matrix = 0, b_matrix = 0;
    for (int i = 0; i < p.batch_rank; ++i) {
      const auto x = static_cast<size_t>(i);
      a_matrix += at[x] * p.a_step[x];
      b_matrix += at[x] * p.b_step[x];
    }
    const T *left = a + a_matrix * p.m * p.k, *right = b + b_matrix * p.k * p.n;
    for (int64_t i = 0; i < p.m; ++i, c += p.n) {
      MICA_TRY_STATUS(scope.check_stop());
      for (int64_t k = 0; k < p.k; ++k) add_scaled(left[i * p.k + k], right + k * p.n, p.n, c);
    }
  } while (next_index(at.data(), p.batch_dims()));
  return {};
}
template Status multiply(RunScope&, const Product&, const double*, const double*, double*);
template Status multiply(RunScope&, const Product&, const uint64_t*, const uint64_t*, uint64_t*);

int64_t product_flops(const CostScope& scope, int a_input) {
  const Shape& a = scope.inputs[static_cast<size_t>(a_input)].shape;
  const auto outputs = element_count(scope.outputs[0].shape);
  if (!outputs.ok() || a.rank < 1 || !a.back().is_fixed()) return 0;
  return 2 * *outputs * a.back().value();
}

}  // namespace mica::matmul
