// Products of few rows by a matrix that is not packed: each of its elements is read once, where it lies. Included by
// gemm.isa.cc.
#pragma once
#include "kernels/gemm/activation.inl"
#include "kernels/gemm/batch.inl"
#include "kernels/pack/pack.h"
#include "kernels/reduce/sum.inl"

namespace mica::MICA_ISA {

// Rows of B that pass by together. Their streams are few enough for the processor to foresee, and a sum is loaded and
// stored once for all of them.
inline constexpr int64_t kRowsAtOnce = 8;

// R rows of sums, `pitch` floats apart, of `columns` outputs, and what is added to them.
struct FewRows {
  const float* a;  // dense rows, a_pitch floats apart
  int64_t a_pitch;
  float alpha;
  const float* b;
  int64_t b_stride;
  float* sums;
  int64_t pitch, columns;
};

// Products of the rows k to `end` of B with V vectors of columns from `j` on, or, as kPart, with the lanes left of one.
template <int R, int V, bool kPart = false>
MICA_INLINE void add_rows_at(const FewRows& f, int64_t k, int64_t end, int64_t j) {
  static_assert(V == 1 || !kPart);
  const int left = static_cast<int>(f.columns - j);
  F32 sum[R][V];
  MICA_UNROLL for (int i = 0; i < R; ++i) MICA_UNROLL for (int v = 0; v < V; ++v) sum[i][v] =
      load(f.sums + i * f.pitch + j + v * kLanes);
  const float* b = f.b + k * f.b_stride + j;
  for (; k < end; ++k, b += f.b_stride) {
    F32 row[V];
    MICA_UNROLL for (int v = 0; v < V; ++v) row[v] = kPart ? load_partial(b, left) : load(b + v * kLanes);
    MICA_UNROLL for (int i = 0; i < R; ++i) {
      const F32 value = set1(f.alpha * f.a[i * f.a_pitch + k]);
      MICA_UNROLL for (int v = 0; v < V; ++v) sum[i][v] = fma(value, row[v], sum[i][v]);
    }
  }
  MICA_UNROLL for (int i = 0; i < R; ++i) MICA_UNROLL for (int v = 0; v < V; ++v)
      store(f.sums + i * f.pitch + j + v * kLanes, sum[i][v]);
}

// All of k, in ascending order for each output.
template <int R>
void add_products(const FewRows& f, int64_t depth) {
  constexpr int V = R <= 2 ? 4 : 2;
  for (int64_t k = 0; k < depth; k += kRowsAtOnce) {
    const int64_t end = least(depth, k + kRowsAtOnce);
    int64_t j = 0;
    for (; j + V * kLanes <= f.columns; j += V * kLanes) add_rows_at<R, V>(f, k, end, j);
    for (; j + kLanes <= f.columns; j += kLanes) add_rows_at<R, 1>(f, k, end, j);
    if (j < f.columns) add_rows_at<R, 1, true>(f, k, end, j);
  }
}

// The same of a transposed B, whose rows belong to one output each: their products are spread over kSumLanes lanes.
// Some outputs at a time, as many chains as cover the latency of a multiply-add, and streams of memory.
template <int R>
void add_dots(const FewRows& f, int64_t depth) {
  constexpr ReduceFunction kSum = ReduceFunction::kSum;
  constexpr int kTogether = R == 1 ? 4 : R == 2 ? 2 : 1;
  const F32 alpha = set1(f.alpha);
  for (int64_t j = 0; j < f.columns; j += kLanes) {
    const int64_t last = least(kLanes, f.columns - j) - 1;
    Sums rows[R][kLanes] = {};
    for (int64_t r = 0; r <= last; r += kTogether) {
      const float* b[kTogether];
      Sums sum[kTogether][R];
      MICA_UNROLL for (int t = 0; t < kTogether; ++t) {
        b[t] = f.b + (j + least(r + t, last)) * f.b_stride;
        MICA_UNROLL for (int i = 0; i < R; ++i) sum[t][i] = neutral_sums<kSum>();
      }
      const auto add_lanes = [&](int64_t k, int part, int lanes) __attribute__((always_inline)) {
        MICA_UNROLL for (int i = 0; i < R; ++i) {
          const F32 a = mul(alpha, load_some(f.a + i * f.a_pitch + k, lanes));
          MICA_UNROLL for (int t = 0; t < kTogether; ++t) sum[t][i].part[part] =
              fma(a, load_some(b[t] + k, lanes), sum[t][i].part[part]);
        }
      };
      int64_t k = 0;
      for (; k + kSumLanes <= depth; k += kSumLanes)
        MICA_UNROLL for (int p = 0; p < kSumParts; ++p) add_lanes(k + p * kLanes, p, kLanes);
      for (int p = 0; k < depth; ++p, k += kLanes) add_lanes(k, p, static_cast<int>(least(kLanes, depth - k)));
      MICA_UNROLL for (int i = 0; i < R; ++i) MICA_UNROLL for (int t = 0; t < kTogether; ++t) rows[i][r + t] =
          sum[t][i];
    }
    MICA_UNROLL for (int i = 0; i < R; ++i) {
      float* to = f.sums + i * f.pitch + j;
      store(to, add(load(to), over_lanes_of_rows<kSum>(rows[i])));
    }
  }
}

using FewRowsFn = void (*)(const FewRows&, int64_t depth);
constexpr FewRowsFn kAddProducts[kMostFewRows] = {add_products<1>, add_products<2>, add_products<3>, add_products<4>};
constexpr FewRowsFn kAddDots[kMostFewRows] = {add_dots<1>, add_dots<2>, add_dots<3>, add_dots<4>};

// Columns [begin, end) of the rows [first, first + rows). What a vector stores beyond `end` stays in the scratch.
inline void run_few_columns(const GemmArgs& g, const BatchPointers& at, const FewRows& few, int64_t first, int64_t rows,
                            int64_t begin, int64_t end) {
  const GemmEpilogue& e = g.epilogue;
  const bool transposed = g.problem.b_form == MatrixForm::kTransposed;
  FewRows f = few;
  f.b = at.b + begin * (transposed ? g.b_stride : 1);
  f.columns = end - begin;
  for (int64_t i = 0; i < rows; ++i)
    for (int64_t j = 0; j < f.columns; ++j) f.sums[i * f.pitch + j] = e.bias ? e.bias[begin + j] : 0.0f;
  (transposed ? kAddDots : kAddProducts)[rows - 1](f, g.problem.k);
  float* c = at.c + first * g.c_stride + begin;
  const float* residual = at.residual ? at.residual + first * e.residual_stride + begin : nullptr;
  kActivateRows[static_cast<int>(e.activation)](
      {f.sums, f.pitch, c, g.c_stride, residual, e.residual_stride, e.residual_last, rows, f.columns, e.a, e.b});
  if (e.finish) e.finish(e.finish_context, c, g.c_stride, first, begin, rows, f.columns);
}

// One task of a choice with few_rows.
inline void run_few_rows(const GemmArgs& g, int64_t task, float* scratch) {
  const GemmChoice& c = g.choice;
  const GemmProblem& p = g.problem;
  const int64_t per_batch = c.m_tasks * c.n_tasks, within = task % per_batch;
  const int64_t m_task = within % c.m_tasks, n_task = within / c.m_tasks;
  const BatchPointers at = at_batch(g, task / per_batch);
  const int64_t first = p.m * m_task / c.m_tasks, rows = p.m * (m_task + 1) / c.m_tasks - first;
  const int64_t end = least(p.n, (n_task + 1) * c.n_block * kPanel), width = few_columns(c.n_block * kPanel);
  FewRows few = {.a = at.a + first * g.a_stride,
                 .a_pitch = g.a_stride,
                 .alpha = g.alpha,
                 .b_stride = g.b_stride,
                 .sums = scratch,
                 .pitch = width};
  if (p.a_form == MatrixForm::kTransposed) {
    float* copy = scratch + rows * width;
    few.a = copy;
    few.a_pitch = p.k;
    for (int64_t k = 0; k < p.k; ++k)
      for (int64_t i = 0; i < rows; ++i) copy[i * p.k + k] = at.a[k * g.a_stride + first + i];
  }
  for (int64_t begin = n_task * c.n_block * kPanel; begin < end; begin += width)
    run_few_columns(g, at, few, first, rows, begin, least(end, begin + width));
}

}  // namespace mica::MICA_ISA
