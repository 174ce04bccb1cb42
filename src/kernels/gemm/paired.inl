// Products of terms in pairs (paired.h). Included by gemm.isa.cc.
//
// A tile is R rows by one panel, which pass it. What is subtracted of each row, and its scale, are found first, once
// for all panels; rows whose elements have about the size 1 are read where they lie, others are copied and scaled. A
// step of six takes as many additions as multiply-adds, row by row, so that both kinds stand within the few
// instructions among which a processor looks for what it can begin: two panels side by side would have too few
// registers for that.
#pragma once
#include "kernels/gemm/paired.h"
#include "kernels/gemm/tile.inl"

namespace mica::MICA_ISA {

inline constexpr bool kHasPaired = kWithPaired && kLanes == kPanel;

// What is known of a row beside its elements.
struct PairedRows {
  float less[kPairedHighRows];     // is subtracted from its sums
  float scale[kPairedHighRows];    // what its elements are multiplied with
  float inverse[kPairedHighRows];  // of it; 0: all elements are zero
  bool plain[kPairedHighRows];     // the row is multiplied as it is
  int plain_count;
  bool scaled;  // some scale is not 1
};

MICA_INLINE int exponent_of(float x) { return static_cast<int>(__builtin_bit_cast(uint32_t, x) << 1 >> 24); }
MICA_INLINE float power_of_two(int e) { return __builtin_bit_cast(float, static_cast<uint32_t>(127 + e) << 23); }

// Of a row or a column: the sum of its elements' sizes, and of its pairs' products.
struct PairedSums {
  float sizes, pairs;
};
// What elements are multiplied with, and its inverse, which is 0 where all of them are zero. `plain`: none will do.
struct PairedScale {
  float scale, inverse;
  bool plain;
};
// To a mean size of 1, unless it is within 2^±kept already; smaller where large elements stand in pairs: an output errs
// by its row's and its column's sum of pairs, which would be many times as large as sums of usual sizes.
MICA_INLINE PairedScale paired_scale(const PairedSums& sums, int64_t depth, int kept) {
  constexpr float kMost = 0x1p40f, kMostPairs = 2;
  if (!(sums.sizes <= kMost && sums.sizes >= 1 / kMost)) return {1, 0, sums.sizes != 0};
  const auto count = static_cast<float>(depth);
  int e = exponent_of(sums.sizes) - exponent_of(count);
  if (e >= -kept && e < kept) e = 0;
  const int over = exponent_of(sums.pairs) - 2 * e - exponent_of(kMostPairs * count);
  if (over > 0) e += (over + 1) / 2;
  return {power_of_two(-e), power_of_two(e), false};
}

// 1 for the lanes of three vectors side by side in which a pair begins.
alignas(64) inline constexpr float kPairBegins[] = {1, 0, 0, 0, 1, 0, 1, 0, 0, 0, 1, 0, 1, 0, 0, 0,  //
                                                    1, 0, 1, 0, 0, 0, 1, 0, 1, 0, 0, 0, 1, 0, 1, 0,  //
                                                    0, 0, 1, 0, 1, 0, 0, 0, 1, 0, 1, 0, 0, 0, 1, 0};

MICA_INLINE PairedSums sums_of_row(const float* x, int64_t depth) {
  const int64_t paired = depth / kPairedSteps * kPairedSteps;
  F32 size = zero(), sum[3] = {zero(), zero(), zero()};
  int64_t k = 0;
  for (; k + 3 * kLanes < depth; k += 3 * kLanes) MICA_UNROLL for (int i = 0; i < 3; ++i) {
      const F32 v = load(x + k + i * kLanes);
      size = add(size, abs(v));
      sum[i] = fma(v, load(x + k + i * kLanes + 1), sum[i]);
    }
  const float* begins = kPairBegins;
  asm("" : "+r"(begins));  // else the compiler keeps a second table of the same numbers
  F32 all = mul(sum[0], load(begins));
  MICA_UNROLL for (int i = 1; i < 3; ++i) all = fma(sum[i], load(begins + i * kLanes), all);
  const auto lanes = [](int64_t n) { return static_cast<int>(n < 0 ? 0 : n < kLanes ? n : kLanes); };
  for (; k < depth; k += kLanes, begins += kLanes) {
    const F32 v = load_partial(x + k, lanes(depth - k)), next = load_partial(x + k + 1, lanes(paired - k - 1));
    size = add(size, abs(v));
    all = fma(mul(v, load(begins)), next, all);
  }
  return {reduce_add(size), reduce_add(all)};
}

// What there is to know of `count` rows of A.
inline __attribute__((noinline)) void measure_rows(const float* a, int64_t stride, int count, int64_t depth,
                                                   PairedRows& rows) {
  rows.plain_count = 0;
  rows.scaled = false;
  for (int i = 0; i < count; ++i, a += stride) {
    const PairedSums sums = sums_of_row(a, depth);
    const PairedScale s = paired_scale(sums, depth, 2);
    rows.scaled = rows.scaled || s.scale != 1;
    rows.scale[i] = s.scale;
    rows.inverse[i] = s.inverse;
    rows.less[i] = sums.pairs * s.scale * s.scale;
    rows.plain[i] = s.plain;
    rows.plain_count += s.plain;
  }
}

// The rows times their scales.
inline __attribute__((noinline)) void copy_scaled(const float* a, int64_t stride, int count, int64_t depth, float* to,
                                                  int64_t pitch, const PairedRows& rows) {
  for (int i = 0; i < count; ++i, a += stride, to += pitch) {
    const F32 scale = set1(rows.scale[i]);
    for (int64_t k = 0; k < depth; k += kLanes) {
      const auto width = static_cast<int>(depth - k < kLanes ? depth - k : kLanes);
      store(to + k, mul(load_partial(a + k, width), scale));
    }
  }
}

// Panels side by side, and where their sums go.
struct PairedTile {
  const float* a;
  int64_t pitch, depth;
  const PairedRows* rows;
  const float* panel;  // the first one's first line
  const float* bias;
  const float* residual;
  float* c;
  int64_t c_stride, residual_stride;
  int64_t bias_step, residual_step;  // from panel to panel: 0 where they are zeros
  float lo, hi;
};

alignas(64) inline constexpr float kNoResidual[kPanel] = {-0.0f, -0.0f, -0.0f, -0.0f, -0.0f, -0.0f, -0.0f, -0.0f,
                                                          -0.0f, -0.0f, -0.0f, -0.0f, -0.0f, -0.0f, -0.0f, -0.0f};

// The sums of R rows by a panel.
template <int R>
MICA_INLINE void add_pairs(const PairedTile& t, const float* panel, F32 (&sum)[R]) {
  const F32 begin = load(panel);
  MICA_UNROLL for (int i = 0; i < R; ++i) sum[i] = sub(begin, set1(t.rows->less[i]));
  panel += kPairedLines * kPanel;
  RowPointers<R> a(t.a, t.pitch);
  const float* const end = a.at[0] + t.depth;
  for (const float* last = end - kPairedSteps; a.at[0] <= last;
       a.advance(kPairedSteps), panel += kPairedSteps * kPanel) {
    F32 y[kPairedSteps];
    MICA_UNROLL for (int u = 0; u < kPairedSteps; ++u) y[u] = load(panel + u * kPanel);
    MICA_UNROLL for (int i = 0; i < R; ++i) {
      const float* const x = a.row(i);
      sum[i] = fma(add(y[1], set1(x[0])), add(y[0], set1(x[1])), sum[i]);
      sum[i] = fma(set1(x[2]), y[2], sum[i]);
      sum[i] = fma(set1(x[3]), y[3], sum[i]);
      sum[i] = fma(add(y[5], set1(x[4])), add(y[4], set1(x[5])), sum[i]);
      asm volatile("" : : : "memory");  // keeps rows apart: registers are few
    }
  }
  for (; a.at[0] < end; a.advance(), panel += kPanel) {
    const F32 y = load(panel);
    MICA_UNROLL for (int i = 0; i < R; ++i) sum[i] = fma(set1(a.row(i)[0]), y, sum[i]);
  }
}

// `panels` of them; rows from `count` on are computed and not stored.
template <int R>
__attribute__((noinline)) void paired_tile(const PairedTile& t, int count, int64_t panels) {
  const F32 lo = set1(t.lo), hi = set1(t.hi);
  const float *panel = t.panel, *bias_at = t.bias, *residual_at = t.residual;
  for (int64_t p = 0; p < panels; ++p) {
    F32 sum[R];
    add_pairs(t, panel, sum);
    const F32 inverse = load(panel + kPanel), bias = load(bias_at);
    float* c = t.c + p * kPanel;
    const float* residual = residual_at;
    MICA_UNROLL for (int i = 0; i < R; ++i) {
      if (i >= count) break;
      const F32 y = add(fma(mul(sum[i], set1(t.rows->inverse[i])), inverse, bias), load(residual));
      store(c, min_fast(hi, max_fast(lo, y)));
      c += t.c_stride;
      residual += t.residual_stride;
    }
    panel += paired_panel(t.depth);
    bias_at += t.bias_step;
    residual_at += t.residual_step;
  }
}

using PairedTileFn = void (*)(const PairedTile&, int count, int64_t panels);
struct PairedKernel {
  PairedTileFn run;
  int rows;
};
// Of the lowest tile for so many rows.
MICA_INLINE PairedKernel paired_kernel_of(int rows) {
  constexpr PairedKernel kKernels[] = {{paired_tile<kPairedLowRows>, kPairedLowRows},
                                       {paired_tile<kPairedRows>, kPairedRows},
                                       {paired_tile<kPairedHighRows>, kPairedHighRows}};
  return kKernels[(rows > kPairedLowRows) + (rows > kPairedRows)];
}

// One row by one panel as a plain product multiplies them.
inline __attribute__((noinline)) void plain_row(const float* x, int64_t depth, const float* panel, const float* bias,
                                                float* out) {
  F32 sum = load(bias);
  const F32 inverse = load(panel + kPanel);
  panel += kPairedLines * kPanel;
  for (int64_t k = 0; k < depth; ++k, panel += kPanel) sum = fma(set1(x[k]), mul(load(panel), inverse), sum);
  store(out, sum);
}

// A panel that cannot be scaled.
MICA_INLINE bool is_plain_panel(const float* panel) { return panel[0] != panel[0]; }

// Some rows of a task on their way to C.
struct PairedCall {
  const GemmArgs& g;
  const float* a;  // the rows as they lie
  PairedTile tile;
  float *c, *buffer;      // column 0
  const float* residual;  // or null
  int count;
  PairedTileFn run;
};

// Panels [first, last) in the buffer, and from there to C.
inline __attribute__((noinline)) void run_buffered(PairedCall& call, int64_t first, int64_t last) {
  const GemmArgs& g = call.g;
  const GemmEpilogue& e = g.epilogue;
  const int64_t k = g.problem.k, width = (last - first) * kPanel, column = first * kPanel;
  const int64_t columns = g.problem.n - column < width ? g.problem.n - column : width;
  alignas(64) float bias[kPairedPanels * kPanel];
  whole_bias(e.bias ? e.bias + column : nullptr, columns, width, bias);
  PairedTile tile = call.tile;
  tile.lo = -__builtin_inff(), tile.hi = __builtin_inff();
  tile.c_stride = kPairedPanels * kPanel;
  tile.residual = kNoResidual;
  tile.residual_stride = 0;
  for (int64_t p = first; p < last; ++p) {
    tile.panel = g.b + p * paired_panel(k);
    tile.bias = bias + (p - first) * kPanel;
    tile.c = call.buffer + (p - first) * kPanel;
    const bool plain = is_plain_panel(tile.panel);
    if (!plain) call.run(tile, call.count, 1);
    for (int i = 0; i < call.count && (plain || tile.rows->plain_count > 0); ++i)
      if (plain || tile.rows->plain[i])
        plain_row(call.a + i * g.a_stride, k, tile.panel, tile.bias, tile.c + i * tile.c_stride);
  }
  kActivateRows[static_cast<int>(e.activation)]({call.buffer, tile.c_stride, call.c + column, g.c_stride,
                                                 call.residual ? call.residual + column : nullptr, e.residual_stride,
                                                 e.residual_last, call.count, columns, e.a, e.b});
}

// All panels [first, last).
MICA_INLINE void run_paired_rows(PairedCall& call, int64_t first, int64_t last) {
  const GemmArgs& g = call.g;
  const GemmEpilogue& e = g.epilogue;
  const int64_t size = paired_panel(g.problem.k);
  const int64_t whole = adds_then_clips(e) && call.tile.rows->plain_count == 0 ? g.problem.n / kPanel : 0;
  for (int64_t p = first, next; p < last; p = next) {
    for (next = p; next < last && next < whole && !is_plain_panel(g.b + next * size);) ++next;
    if (next > p) {
      const int64_t column = p * kPanel;
      PairedTile& t = call.tile;
      t.panel = g.b + p * size;
      t.bias = e.bias ? e.bias + column : kNoBias;
      t.bias_step = e.bias ? kPanel : 0;
      t.c = call.c + column;
      t.residual = call.residual ? call.residual + column : kNoResidual;
      t.residual_stride = call.residual ? e.residual_stride : 0;
      t.residual_step = call.residual ? kPanel : 0;
      call.run(t, call.count, next - p);
      continue;
    }
    next = p < whole ? p + 1 : p + kPairedPanels < last ? p + kPairedPanels : last;
    run_buffered(call, p, next);
  }
}

// One task of a choice that is `paired`.
inline void run_paired(const GemmArgs& g, int64_t task, float* scratch) {
  const GemmChoice& choice = g.choice;
  const GemmProblem& p = g.problem;
  const GemmEpilogue& e = g.epilogue;
  const int64_t m_task = task % choice.m_tasks, n_task = task / choice.m_tasks, panels = panel_count(p.n);
  const int64_t first = n_task * choice.n_block, behind = first + choice.n_block;
  const int64_t last = behind < panels ? behind : panels;
  const int64_t row_begin = p.m * m_task / choice.m_tasks, row_end = p.m * (m_task + 1) / choice.m_tasks;
  const bool clips = e.activation == Activation::kClip;
  PairedRows rows;
  float* const copy = scratch + kPairedHighRows * kPairedPanels * kPanel;
  const int64_t pitch = paired_pitch(p.k);
  PairedTile tile{.depth = p.k,
                  .rows = &rows,
                  .c_stride = g.c_stride,
                  .lo = clips ? e.a : -__builtin_inff(),
                  .hi = clips ? e.b : __builtin_inff()};
  const PairedHeights heights = paired_heights(row_end - row_begin);
  int64_t others = heights.others;
  for (int64_t row = row_begin, count; row < row_end; row += count, --others) {
    const int64_t height = others > 0 ? heights.height : kPairedRows;
    count = row_end - row < height ? row_end - row : height;
    const float* const a = g.a + row * g.a_stride;
    const PairedKernel kernel = paired_kernel_of(static_cast<int>(count));
    measure_rows(a, g.a_stride, static_cast<int>(count), p.k, rows);
    tile.a = a;
    tile.pitch = g.a_stride;
    // A tile reads as many rows as it has.
    if (rows.scaled || kernel.rows != count || rows_collide(g.a_stride)) {
      copy_scaled(a, g.a_stride, static_cast<int>(count), p.k, copy, pitch, rows);
      tile.a = copy;
      tile.pitch = pitch;
    }
    PairedCall call{.g = g,
                    .a = a,
                    .tile = tile,
                    .c = g.c + row * g.c_stride,
                    .buffer = scratch,
                    .residual = e.residual ? e.residual + row * e.residual_stride : nullptr,
                    .count = static_cast<int>(count),
                    .run = kernel.run};
    run_paired_rows(call, first, last);
    const int64_t column = first * kPanel, width = (last * kPanel < p.n ? last * kPanel : p.n) - column;
    if (e.finish) e.finish(e.finish_context, call.c + column, g.c_stride, row, column, count, width);
  }
}

// A panel's columns scaled to a mean size of about 1; as it is, with a NaN in front, where one of them cannot be.
inline __attribute__((noinline)) void paired_weights(const PairedWeights& w, int64_t first, int64_t last) {
  const F32 alpha = set1(w.alpha);
  const int64_t k = w.k, paired = k / kPairedSteps * kPairedSteps;
  for (int64_t p = first; p < last; ++p) {
    const float* const from = w.from + p * k * kPanel;
    float* const to = w.to + p * paired_panel(k);
    F32 size = zero(), pair = zero(), before = zero();
    for (int64_t i = 0; i < k; ++i) {
      const F32 y = mul(alpha, load(from + i * kPanel));
      const int64_t within = i % kPairedSteps;
      if (i < paired && (within == 1 || within == 5)) pair = fma(before, y, pair);
      size = add(size, abs(y));
      before = y;
    }
    alignas(64) float sizes[kPanel], pairs[kPanel], scale[kPanel], inverse[kPanel];
    store(sizes, size);
    store(pairs, pair);
    bool plain = false;
    for (int j = 0; j < kPanel; ++j) {
      const PairedScale s = paired_scale({sizes[j], pairs[j]}, k, 0);
      plain = plain || s.plain;
      scale[j] = s.scale, inverse[j] = s.inverse;
    }
    const F32 factor = plain ? set1(1.0f) : load(scale);
    for (int64_t i = 0; i < k; ++i)
      store(to + (kPairedLines + i) * kPanel, mul(mul(alpha, load(from + i * kPanel)), factor));
    store(to, plain ? set1(__builtin_nanf("")) : neg(mul(mul(pair, factor), factor)));
    store(to + kPanel, plain ? set1(1.0f) : load(inverse));
  }
}

}  // namespace mica::MICA_ISA
