#include "ops/matmul/gemm.h"

#include "ops/matmul/product.h"
#include "types/dense.h"

namespace mica {
namespace {

Status infer(InferScope& scope) {
  const auto& g = scope.attributes<Gemm>();
  for (int i : {0, 1}) MICA_TRY_STATUS(require_rank(scope, i, 2, 2));
  MICA_TRY_STATUS(require_same_dtype(scope, 0, 1));
  MICA_CHECK(is_float(scope.dtype(0)) || is_integer(scope.dtype(0)), kBadType, "a matrix product of {}",
             name_of(scope.dtype(0)));
  if (scope.has(2)) {
    MICA_TRY_STATUS(require_same_dtype(scope, 0, 2));
    MICA_TRY_STATUS(require_rank(scope, 2, 0, 2));
  }
  const Shape &a = scope.shape(0), &b = scope.shape(1);
  Shape out = Shape::of_rank(2);
  out[0] = a.known() ? a[g.transpose_a ? 1 : 0] : scope.dims().fresh("rows");
  out[1] = b.known() ? b[g.transpose_b ? 0 : 1] : scope.dims().fresh("columns");
  if (a.known() && b.known()) {
    const Dim a_inner = a[g.transpose_a ? 0 : 1], b_inner = b[g.transpose_b ? 1 : 0];
    if (a_inner.is_fixed() && b_inner.is_fixed())
      MICA_CHECK(a_inner == b_inner, kBadShape, "the inner dimensions differ: {} and {}", a_inner.value(),
                 b_inner.value());
    if (scope.has(2)) {
      MICA_TRY(const Shape sum, broadcast(out, scope.shape(2), scope.dims()));
      for (int i = 0; i < 2 && sum.known(); ++i)
        if (sum[i].is_fixed() && out[i].is_fixed())
          MICA_CHECK(sum[i] == out[i], kBadShape, "the summand has {} along axis {} of a result of {}", sum[i].value(),
                     i, out[i].value());
    }
  }
  scope.out(0, scope.dtype(0), out);
  return {};
}

template <class T>
void transpose(const T* from, int64_t rows, int64_t columns, T* to) {
  for (int64_t i = 0; i < rows; ++i)
    for (int64_t j = 0; j < columns; ++j) to[j * rows + i] = from[i * columns + j];
}

// The operand as a dense matrix, transposed when `flip`.
template <class T>
Result<const T*> matrix(RunScope& scope, int input, bool flip) {
  const TensorView& view = scope.in(input);
  T *plain = nullptr, *flipped = nullptr;
  if constexpr (std::is_same_v<T, double>) {
    MICA_TRY(plain, dense_numbers(scope, view));
    if (!flip) return plain;
    MICA_TRY(flipped, zero_numbers(scope, view.count()));
  } else {
    MICA_TRY(plain, dense_integers(scope, view));
    if (!flip) return plain;
    MICA_TRY(flipped, zero_integers(scope, view.count()));
  }
  transpose(plain, view.dim(0), view.dim(1), flipped);
  return flipped;
}

// Where element (i, j) of a summand that broadcasts to the result stands.
struct Summand {
  explicit Summand(const TensorView& c) {
    if (c.rank >= 1 && c.dim(c.rank - 1) != 1) column = 1;
    if (c.rank == 2 && c.dim(0) != 1) row = c.dim(1);
  }
  int64_t row = 0, column = 0;
};

template <class T>
Status run(RunScope& scope, const Gemm& g, const matmul::Product& p, T* sums) {
  MICA_TRY(const T* a, matrix<T>(scope, 0, g.transpose_a));
  MICA_TRY(const T* b, matrix<T>(scope, 1, g.transpose_b));
  MICA_TRY_STATUS(matmul::multiply(scope, p, a, b, sums));
  const int64_t count = p.m * p.n;
  if (g.alpha != 1)
    for (int64_t i = 0; i < count; ++i) {
      const double scaled = static_cast<double>(g.alpha) * static_cast<double>(sums[i]);
      if constexpr (std::is_same_v<T, double>)
        sums[i] = scaled;
      else
        store_number(DType::kI64, &sums[i], scaled);
    }
  if (!scope.has(2) || g.beta == 0) return {};
  const TensorView& c = scope.in(2);
  const Summand place(c);
  const bool fits = c.rank <= 2 && (!place.column || c.dim(c.rank - 1) == p.n) && (!place.row || c.dim(0) == p.m);
  MICA_CHECK(fits, kBadShape, "the summand does not broadcast to {} x {}", p.m, p.n);
  const Elements elements(c);
  for (int64_t i = 0; i < count; ++i) {
    const int64_t at = i / p.n * place.row + i % p.n * place.column;
    if constexpr (std::is_same_v<T, double>) {
      sums[i] += static_cast<double>(g.beta) * elements.number(at);
    } else {
      int64_t summand = elements.integer(at);
      if (g.beta != 1) store_number(DType::kI64, &summand, static_cast<double>(g.beta) * elements.number(at));
      sums[i] = static_cast<T>(static_cast<uint64_t>(sums[i]) + static_cast<uint64_t>(summand));
    }
  }
  return {};
}

Status reference(RunScope& scope) {
  const auto& g = scope.attributes<Gemm>();
  const TensorView &a = scope.in(0), &b = scope.in(1);
  MICA_CHECK(a.rank == 2 && b.rank == 2, kBadRank, "matrices of {} and {} dimensions", a.rank, b.rank);
  const int64_t left[] = {a.dim(g.transpose_a ? 1 : 0), a.dim(g.transpose_a ? 0 : 1)};
  const int64_t right[] = {b.dim(g.transpose_b ? 1 : 0), b.dim(g.transpose_b ? 0 : 1)};
  MICA_TRY(const matmul::Product p, matmul::product_of(left, right));
  MICA_TRY_STATUS(scope.allocate_output(0, p.out_dims()));
  if (is_float(a.dtype)) {
    MICA_TRY(double* sums, zero_numbers(scope, p.m * p.n));
    MICA_TRY_STATUS(run(scope, g, p, sums));
    store_dense(sums, scope.out(0));
    return {};
  }
  MICA_TRY(int64_t * sums, zero_integers(scope, p.m * p.n));
  MICA_TRY_STATUS(run(scope, g, p, sums));
  store_dense(sums, scope.out(0));
  return {};
}

int64_t flops(const CostScope& scope) {
  const auto& g = scope.attributes<Gemm>();
  const auto outputs = element_count(scope.outputs[0].shape);
  const Shape& a = scope.inputs[0].shape;
  if (!outputs.ok() || a.rank != 2 || !a[g.transpose_a ? 0 : 1].is_fixed()) return 0;
  return 2 * *outputs * a[g.transpose_a ? 0 : 1].value();
}

}  // namespace

MICA_OP(gemm) = {.name = "gemm",
                 .doc = "alpha · A · B + beta · C of matrices; C broadcasts",
                 .inputs = {2, 3},
                 .attributes = attr_class<Gemm>(),
                 .infer = infer,
                 .reference = reference,
                 .flops = flops};

}  // namespace mica
