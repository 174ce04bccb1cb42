// Strassen's algorithm over the product of gemm.isa.cc: sums of quarters, seven products, and the epilogue. Included by
// gemm.isa.cc.
#pragma once
#include "kernels/gemm/activation.inl"
#include "kernels/gemm/strassen.h"
#include "kernels/pack/pack.h"
#include "simd/several.h"

namespace mica::MICA_ISA {

using RunProducts = void (*)(const GemmArgs& args, int64_t task_begin, int64_t task_end, float* scratch);

// A block of A's quarters as they are stored: rows of m, or of k where A is transposed.
struct QuarterRows {
  const float *a11, *a12, *a21, *a22;
  int64_t stride, rows, columns;
};

// f(i, j, width) at every vector of rows x columns; width < kLanes at the ends of rows.
template <class F>
MICA_INLINE void each_vector(int64_t rows, int64_t columns, F f) {
  for (int64_t i = 0; i < rows; ++i) {
    int64_t j = 0;
    for (; j + kLanes <= columns; j += kLanes) f(i, j, kLanes);
    if (j < columns) f(i, j, static_cast<int>(columns - j));
  }
}

// The largest numbers of a pair of rows, and 0 or NaN: a sum is not finite where a term is not.
struct PairSize {
  F32 upper = zero(), lower = zero(), zeros = zero();

  MICA_INLINE void take(F32 a11, F32 a12, F32 a21, F32 a22, F32 sum) {
    upper = max_fast(max_fast(upper, abs(a11)), abs(a12));
    lower = max_fast(max_fast(lower, abs(a21)), abs(a22));
    zeros = fma(sum, zero(), zeros);
  }
  // Whether neither row errs by more than the other's size allows; false for a NaN or an infinity.
  MICA_INLINE bool is_even() const {
    const float high = reduce_max(add(upper, zeros)), low = reduce_max(lower);
    return high <= kMostUneven * low && low <= kMostUneven * high;
  }
};

// The four sums, one after the other `size` floats apart. Rows are so short that the processor's own fetches begin anew
// with each. Tells each row whether its pair is even (a row of A, not of A transposed), and returns whether all are;
// without `apart`, whether all numbers are finite.
inline bool sum_quarters(const QuarterRows& q, float* sums, int64_t size, int64_t stride, bool* apart) {
  constexpr int64_t kRowsAhead = 2;
  const int64_t ahead = kRowsAhead * q.stride;
  PairSize pair;
  bool even = true;
  for (int64_t i = 0; i < q.rows; ++i) {
    if (apart) pair = {};
    each_vector(
        1, q.columns, [&](int64_t, int64_t j, int width) __attribute__((always_inline)) {
          const int64_t at = i * q.stride + j;
          float* to = sums + i * stride + j;
          prefetch(q.a11 + at + ahead);
          prefetch(q.a12 + at + ahead);
          prefetch(q.a21 + at + ahead);
          prefetch(q.a22 + at + ahead);
          const F32 a11 = load_some(q.a11 + at, width), a21 = load_some(q.a21 + at, width);
          const F32 a12 = load_some(q.a12 + at, width), a22 = load_some(q.a22 + at, width);
          const F32 s1 = add(a21, a22), s2 = sub(s1, a11);
          store_some(to, s1, width);
          store_some(to + size, s2, width);
          store_some(to + 2 * size, sub(a11, a21), width);
          store_some(to + 3 * size, sub(a12, s2), width);
          pair.take(a11, a12, a21, a22, add(add(a11, a12), s1));
        });
    if (!apart) continue;
    apart[i] = !pair.is_even();
    even = even && !apart[i];
  }
  return apart ? even : reduce_add(pair.zeros) == 0;
}

// A task: a block of rows of both halves of A by a block of columns of both halves of B.
struct StrassenBlock {
  const StrassenArgs& args;
  RunProducts run_products;
  StrassenHalves half;
  int64_t row, rows;            // of the halves
  int64_t column, left, right;  // of the halves: the first, and how many of the left and of the right half
  int64_t lower_row, skip;      // where the lower half's rows begin; 1 where the first one is another block's
  float *sums, *x, *y, *z;      // S1 to S4, s_size apart; products and their sums
  bool* apart;                  // of each pair of rows: whether it is multiplied once more
  int64_t s_stride, s_size, x_stride;
  float* scratch;  // of a product
};

// The finished rectangle of C that begins at this row and column.
inline TileOut tile_out(const StrassenBlock& b, int64_t row, int64_t column) {
  const GemmArgs& g = b.args.whole;
  const GemmEpilogue& e = g.epilogue;
  return {.out = g.c + row * g.c_stride + column,
          .out_stride = g.c_stride,
          .residual = e.residual ? e.residual + row * e.residual_stride + column : nullptr,
          .residual_stride = e.residual_stride,
          .residual_last = e.residual_last,
          .a = e.a,
          .b = e.b};
}
__attribute__((noinline)) inline void activate_tile(const StrassenBlock& b, TileOut t, const float* in, int64_t rows,
                                                    int64_t columns) {
  t.in = in;
  t.in_stride = b.x_stride;
  t.rows = rows;
  t.columns = columns;
  kActivateRows[static_cast<int>(b.args.whole.epilogue.activation)](t);
}
// to += x
__attribute__((noinline)) inline void add_tile(const float* x, float* to, int64_t stride, int64_t rows,
                                               int64_t columns) {
  kActivateRows[static_cast<int>(Activation::kNone)]({.in = x,
                                                      .in_stride = stride,
                                                      .out = to,
                                                      .out_stride = stride,
                                                      .residual = to,
                                                      .residual_stride = stride,
                                                      .residual_last = false,
                                                      .rows = rows,
                                                      .columns = columns});
}

// One quarter of C, on its way through a buffer because of the caller's residual.
struct QuarterOut {
  const StrassenBlock& block;
  int64_t row, column;
};
inline void finish_quarter(const void* context, float* c, int64_t, int64_t row, int64_t column, int64_t rows,
                           int64_t columns) {
  const QuarterOut& q = *static_cast<const QuarterOut*>(context);
  activate_tile(q.block, tile_out(q.block, q.row + row, q.column + column), c, rows, columns);
}
// P7 in x: U3 = U2 + P7 to z, and C22 = U4 + P7, which begins in y, to its place.
inline void finish_seventh(const void* context, float* c, int64_t, int64_t row, int64_t column, int64_t rows,
                           int64_t columns) {
  const StrassenBlock& b = *static_cast<const StrassenBlock*>(context);
  const int64_t at = row * b.x_stride + column;
  add_tile(c, b.z + at, b.x_stride, rows, columns);
  const int64_t width = column + columns <= b.right ? columns : b.right - column, skip = row == 0 ? b.skip : 0;
  if (width <= 0 || skip == rows) return;
  const float* sum = b.y + at + skip * b.x_stride;
  add_tile(c + skip * b.x_stride, b.y + at + skip * b.x_stride, b.x_stride, rows - skip, width);
  activate_tile(b, tile_out(b, b.lower_row + row + skip, b.half.n + b.column + column), sum, rows - skip, width);
}

// What differs between the products of a block. Functions that seven products call are compiled once.
struct BlockProduct {
  const float* a;
  int64_t a_stride;
  int index;                    // of B's sums
  int64_t rows, columns;        //
  float* to;                    // a buffer
  const float* plus = nullptr;  // a buffer that is added
  const float* bias = nullptr;
};
__attribute__((noinline)) inline GemmArgs product_args(const StrassenBlock& b, const BlockProduct& p) {
  const GemmArgs& whole = b.args.whole;
  GemmArgs g;
  g.problem = {.m = p.rows, .n = p.columns, .k = b.half.k, .a_form = whole.problem.a_form};
  g.choice = b.args.choice.product;
  g.a = p.a;
  g.a_stride = p.a_stride;
  const int64_t panels = (b.half.n + kPanel - 1) / kPanel;
  g.b = whole.b + (p.index * panels + b.column / kPanel) * b.half.k * kPanel;
  if (p.index + 1 < kStrassenProducts) g.b_next = g.b + panels * b.half.k * kPanel;
  g.c = p.to;
  g.c_stride = b.x_stride;
  g.epilogue.residual = p.plus;
  g.epilogue.residual_stride = b.x_stride;
  g.epilogue.bias = p.bias;
  return g;
}
__attribute__((noinline)) inline void multiply(const StrassenBlock& b, const BlockProduct& p) {
  if (p.rows > 0 && p.columns > 0) b.run_products(product_args(b, p), 0, 1, b.scratch);
}
// The product completes a quarter of C, which begins at this row and column.
__attribute__((noinline)) inline void multiply_out(const StrassenBlock& b, const BlockProduct& p, int64_t row,
                                                   int64_t column) {
  if (p.rows <= 0 || p.columns <= 0) return;
  const GemmArgs& whole = b.args.whole;
  const GemmEpilogue& e = whole.epilogue;
  GemmArgs g = product_args(b, p);
  const QuarterOut out{b, row, column};
  if (e.residual) {
    g.epilogue.finish = finish_quarter;
    g.epilogue.finish_context = &out;
  } else {
    g.epilogue.activation = e.activation;
    g.epilogue.a = e.a;
    g.epilogue.b = e.b;
    g.c = whole.c + row * whole.c_stride + column;
    g.c_stride = whole.c_stride;
  }
  b.run_products(g, 0, 1, b.scratch);
}

inline QuarterRows quarters_of(const StrassenBlock& b) {
  const GemmArgs& g = b.args.whole;
  const bool by_rows = g.problem.a_form == MatrixForm::kRows;
  const int64_t m_step = by_rows ? g.a_stride : 1, k_step = by_rows ? 1 : g.a_stride;
  const float *upper = g.a + b.row * m_step, *lower = g.a + b.lower_row * m_step;
  const int64_t second = (g.problem.k - b.half.k) * k_step;
  return {upper,
          upper + second,
          lower,
          lower + second,
          g.a_stride,
          by_rows ? b.rows : b.half.k,
          by_rows ? b.half.k : b.rows};
}

// A row and the one that it is paired with, of A transposed.
inline bool pair_is_finite(const QuarterRows& q, int64_t depth, int64_t i) {
  for (const float* quarter : {q.a11, q.a12, q.a21, q.a22})
    for (int64_t k = 0; k < depth; ++k)
      if (!(__builtin_fabsf(quarter[i + k * q.stride]) < __builtin_inff())) return false;
  return true;
}

// Rows of one half, which no other row touches: C1 = A1·B11 + A2·B21, C2 = (A1 + A2)·B22 - A1·T3.
struct RowsApart {
  const float *left, *right;  // of A's columns
  int64_t stride, rows, row;  // the first row of C
};
inline void run_rows_apart(const StrassenBlock& b, const RowsApart& r) {
  if (r.rows <= 0) return;
  const GemmArgs& g = b.args.whole;
  const bool by_rows = g.problem.a_form == MatrixForm::kRows;
  float *sum = b.sums, *negative = b.sums + b.s_size;
  each_vector(
      by_rows ? r.rows : b.half.k,
      by_rows ? b.half.k : r.rows, [&](int64_t i, int64_t j, int width) __attribute__((always_inline)) {
        const F32 left = load_some(r.left + i * r.stride + j, width);
        store_some(sum + i * b.s_stride + j, add(left, load_some(r.right + i * r.stride + j, width)), width);
        store_some(negative + i * b.s_stride + j, neg(left), width);
      });
  const int64_t right = b.half.n + b.column;
  const float* left_bias = g.epilogue.bias ? g.epilogue.bias + b.column : nullptr;
  const float* right_bias = g.epilogue.bias ? g.epilogue.bias + right : nullptr;
  multiply(b, {r.left, r.stride, 0, r.rows, b.left, b.x});
  multiply_out(b, {r.right, r.stride, 1, r.rows, b.left, b.y, b.x, left_bias}, r.row, b.column);
  multiply(b, {sum, b.s_stride, 4, r.rows, b.right, b.x, nullptr, right_bias});
  multiply_out(b, {negative, b.s_stride, 5, r.rows, b.right, b.y, b.x}, r.row, right);
}

// Pairs with a NaN or an infinity once more, so that it stays in its row, and those of which one row is far larger than
// the other. Runs of them share products, which does not change their sums.
inline void run_pairs_apart(const StrassenBlock& b, const QuarterRows& q) {
  const int64_t step = b.args.whole.problem.a_form == MatrixForm::kRows ? q.stride : 1;
  for (int64_t i = 0; i < b.rows; ++i) {
    const int64_t first = i;
    while (i < b.rows && b.apart[i]) ++i;
    if (i == first) continue;
    const int64_t lower = first > b.skip ? first : b.skip;
    run_rows_apart(b, {q.a11 + first * step, q.a12 + first * step, q.stride, i - first, b.row + first});
    run_rows_apart(b, {q.a21 + lower * step, q.a22 + lower * step, q.stride, i - lower, b.lower_row + lower});
  }
}

inline void run_block(const StrassenBlock& b) {
  const GemmArgs& g = b.args.whole;
  const QuarterRows q = quarters_of(b);
  const bool by_rows = g.problem.a_form == MatrixForm::kRows;
  const int64_t right = b.half.n + b.column, lower = b.lower_row + b.skip;
  const float* left_bias = g.epilogue.bias ? g.epilogue.bias + b.column : nullptr;
  const float* right_bias = g.epilogue.bias ? g.epilogue.bias + right : nullptr;
  const float *s1 = b.sums, *s2 = s1 + b.s_size, *s3 = s2 + b.s_size, *s4 = s3 + b.s_size;
  const bool even = sum_quarters(q, b.sums, b.s_size, b.s_stride, by_rows ? b.apart : nullptr);
  multiply(b, {q.a11, q.stride, 0, b.rows, b.left, b.x});
  multiply_out(b, {q.a12, q.stride, 1, b.rows, b.left, b.y, b.x, left_bias}, b.row, b.column);
  multiply(b, {s2, b.s_stride, 2, b.rows, b.left, b.z, b.x});
  multiply(b, {s1, b.s_stride, 3, b.rows, b.right, b.y, b.z, right_bias});
  multiply_out(b, {s4, b.s_stride, 4, b.rows, b.right, b.x, b.y}, b.row, right);
  GemmArgs seventh = product_args(b, {s3, b.s_stride, 5, b.rows, b.left, b.x});
  seventh.epilogue.finish = finish_seventh;
  seventh.epilogue.finish_context = &b;
  b.run_products(seventh, 0, 1, b.scratch);
  const float* a22 = q.a22 + b.skip * (by_rows ? q.stride : 1);
  multiply_out(b, {a22, q.stride, 6, b.rows - b.skip, b.left, b.y, b.z + b.skip * b.x_stride, left_bias}, lower,
               b.column);
  if (even) return;
  for (int64_t i = 0; i < b.rows && !by_rows; ++i) b.apart[i] = !pair_is_finite(q, b.half.k, i);
  run_pairs_apart(b, q);
}

inline void run_strassen_task(const StrassenArgs& args, RunProducts run_products, int64_t task, float* scratch) {
  const GemmProblem& p = args.whole.problem;
  const StrassenChoice& c = args.choice;
  const StrassenHalves half = strassen_halves(p);
  const auto least = [](int64_t x, int64_t y) { return x < y ? x : y; };
  const auto lines = [](int64_t n) { return (n + kPanel - 1) / kPanel * kPanel; };
  const int64_t row = task % c.m_tasks * c.m_block, column = task / c.m_tasks * c.n_block;
  const int64_t left = least(c.n_block, half.n - column), right = least(left, p.n - half.n - column);
  StrassenBlock b{.args = args,
                  .run_products = run_products,
                  .half = half,
                  .row = row,
                  .rows = least(c.m_block, half.m - row),
                  .column = column,
                  .left = left,
                  .right = right > 0 ? right : 0,
                  .lower_row = p.m - half.m + row,
                  .skip = row == 0 ? p.m % 2 : 0};
  const bool by_rows = p.a_form == MatrixForm::kRows;
  b.s_stride = lines(by_rows ? half.k : c.m_block);
  b.x_stride = lines(c.n_block);
  b.s_size = b.s_stride * (by_rows ? c.m_block : half.k);
  const int64_t x_size = b.x_stride * c.m_block;
  b.sums = scratch;
  b.x = b.sums + 4 * b.s_size;
  b.y = b.x + x_size;
  b.z = b.y + x_size;
  b.apart = reinterpret_cast<bool*>(b.z + x_size);
  b.scratch = b.z + x_size + strassen_flags(c.m_block);
  run_block(b);
}

// So many numbers of a row of B from a column on, which is a panel's first one or B has but one panel; then zeros.
inline void load_quarter(const StrassenWeights& w, int64_t k, int64_t column, int64_t count, double* out) {
  const float* from = w.from + (column / kPanel * w.k + k) * kPanel + column % kPanel;
  const double alpha = w.alpha;
  if (count >= kPanel) {
    for (int64_t j = 0; j < kPanel; ++j) out[j] = static_cast<double>(from[j]) * alpha;
    return;
  }
  for (int64_t j = 0; j < kPanel; ++j) out[j] = j < count ? static_cast<double>(from[j]) * alpha : 0.0;
}

// A factor's products are exact in doubles, so that sums of them do not depend on whether a set fuses them.
inline void strassen_weights(const StrassenWeights& w, int64_t first, int64_t last) {
  const int64_t size = w.panels * w.half.k * kPanel, below = w.k - w.half.k;
  for (int64_t panel = first; panel < last; ++panel)
    for (int64_t k = 0; k < w.half.k; ++k) {
      const int64_t column = panel * kPanel, right = w.half.n + column, left_count = w.half.n - column;
      const int64_t right_count = w.n - right < left_count ? w.n - right : left_count;
      const bool has_lower = k > 0 || w.k % 2 == 0;
      double b11[kPanel], b12[kPanel], b21[kPanel], b22[kPanel];
      load_quarter(w, k, column, left_count, b11);
      load_quarter(w, below + k, column, has_lower ? left_count : 0, b21);
      load_quarter(w, k, right, right_count, b12);
      load_quarter(w, below + k, right, has_lower ? right_count : 0, b22);
      float* to = w.to + (panel * w.half.k + k) * kPanel;
      for (int64_t j = 0; j < kPanel; ++j) {
        const double t1 = b12[j] - b11[j], t2 = b22[j] - t1;
        to[j] = static_cast<float>(b11[j]);
        to[size + j] = static_cast<float>(b21[j]);
        to[2 * size + j] = static_cast<float>(t2);
        to[3 * size + j] = static_cast<float>(t1);
        to[4 * size + j] = static_cast<float>(b22[j]);
        to[5 * size + j] = static_cast<float>(b22[j] - b12[j]);
        to[6 * size + j] = static_cast<float>(b21[j] - t2);
      }
    }
}

}  // namespace mica::MICA_ISA
