#include "kernels/gemm/gemm.h"

#include "kernels/gemm/ends.inl"
#include "kernels/gemm/few_rows.inl"
#include "kernels/gemm/paired.inl"
#include "kernels/gemm/strassen.inl"

namespace mica::MICA_ISA {
namespace {

// A run of each of a vector's rows, which may lie in two lines: no processor foresees what so many rows read.
MICA_INLINE void prefetch_rows(const float* in, int64_t in_stride, int64_t width) {
  MICA_UNROLL for (int r = 0; r < kLanes; ++r, in += in_stride) {
    prefetch(in);
    prefetch(in + width - 1);
  }
}

// From line to line of a vector's rows; from row to row of a line where it is the result's rows, or every other one,
// that collide, so that their lines are written whole.
void transpose_matrix(const float* in, int64_t in_stride, float* out, int64_t out_stride, int64_t rows,
                      int64_t columns) {
  constexpr int64_t kAheadRows = 32;
  const bool by_lines = rows_collide(2 * out_stride) && !rows_collide(2 * in_stride);
  const int64_t whole = rows / kLanes * kLanes, step = by_lines ? kPanel : columns;
  for (int64_t line = 0; line < columns; line += step) {
    const int64_t end = line + step < columns ? line + step : columns;
    for (int64_t i = 0; i < whole; i += kLanes) {
      const float* from = in + i * in_stride;
      if (by_lines && i + kAheadRows < whole)
        prefetch_rows(from + kAheadRows * in_stride + line, in_stride, end - line);
      for (int64_t j = line; j < end; j += kLanes) {
        F32 block[kLanes];
        const bool is_whole = j + kLanes <= end;
        const auto width = static_cast<int>(is_whole ? kLanes : end - j);
        if (is_whole)
          MICA_UNROLL for (int r = 0; r < kLanes; ++r) block[r] = load(from + r * in_stride + j);
        else
          MICA_UNROLL for (int r = 0; r < kLanes; ++r) block[r] = load_partial(from + r * in_stride + j, width);
        transpose(block);
        float* to = out + j * out_stride + i;
        MICA_UNROLL for (int r = 0; r < kLanes; ++r, to += out_stride) {
          if (r == width) break;
          store(to, block[r]);
        }
      }
    }
  }
  for (int64_t i = whole; i < rows; ++i) {
    int64_t j = 0;
    for (; j + kLanes <= columns; j += kLanes)
      store_strided(out + j * out_stride + i, out_stride, load(in + i * in_stride + j));
    for (; j < columns; ++j) out[j * out_stride + i] = in[i * in_stride + j];
  }
}

void copy_rows(const float* in, int64_t in_stride, float* out, int64_t out_stride, int64_t rows, int64_t columns) {
  for (int64_t i = 0; i < rows; ++i, in += in_stride, out += out_stride) {
    int64_t j = 0;
    for (; j + kLanes <= columns; j += kLanes) store(out + j, load(in + j));
    if (j < columns)
      store_partial(out + j, load_partial(in + j, static_cast<int>(columns - j)), static_cast<int>(columns - j));
  }
}

// Packs columns [column, end) of rows k0 to k0 + depth of a plain B, scaled by alpha; panels lie depth · 16 apart. Some
// rows at a time: of more, each page of B would be visited for one line, of one, panels would share sets of the cache.
__attribute__((noinline)) void pack_rows(const GemmArgs& g, const float* b, int64_t k0, int64_t depth, int64_t column,
                                         int64_t end, float* out) {
  constexpr int64_t kRows = 8;
  const F32 alpha = set1(g.alpha);
  for (int64_t k = 0; k < depth; k += kRows) {
    float* panel = out + k * kPanel;
    const int64_t rows = depth - k < kRows ? depth - k : kRows;
    for (int64_t j = column; j < end; j += kPanel, panel += depth * kPanel) {
      const float* in = b + (k0 + k) * g.b_stride + j;
      float* to = panel;
      for (int64_t row = 0; row < rows; ++row, in += g.b_stride)
        for (int i = 0; i < kPanelVectors; ++i, to += kLanes)
          store(to, mul(alpha, load_some(in + i * kLanes, width_of(end - j, i))));
    }
  }
}

// Packs the panels [first, last) of rows k0 to k0 + depth of a plain B, likewise.
void pack_b(const GemmArgs& g, const float* b, int64_t k0, int64_t depth, int64_t first, int64_t last, float* out) {
  const F32 alpha = set1(g.alpha);
  const int64_t all = g.problem.n < last * kPanel ? g.problem.n : last * kPanel;
  if (g.problem.b_form == MatrixForm::kRows) return pack_rows(g, b, k0, depth, first * kPanel, all, out);
  for (int64_t column = first * kPanel; column < all; column += kPanel, out += depth * kPanel) {
    const int64_t width = all - column < kPanel ? all - column : kPanel;
    transpose_matrix(b + column * g.b_stride + k0, g.b_stride, out, kPanel, width, depth);
    for (int64_t k = 0; k < depth && width < kPanel; ++k)
      for (int64_t j = width; j < kPanel; ++j) out[k * kPanel + j] = 0.0f;
    if (g.alpha != 1.0f)
      for (int64_t i = 0; i < depth * kPanel; i += kLanes) store(out + i, mul(alpha, load(out + i)));
  }
}

// One pass of a task's rows over a group of panels and a block of k. Rows are split into the highest tiles.
struct Pass {
  int64_t row_begin, row_end, panel_begin, panel_end, k_begin, k_end;
  bool first;                            // of its block of k
  int64_t next_panel, next_end, next_k;  // the panels and the k of the pass behind it; none: next_panel is next_end
};

// A row tile's A, C and residual of so many floats stay in the first-level cache until they are needed.
constexpr int64_t kNearFloats = 4096;

// What the tiles of a pass fetch for those after them: each its share of the next panels, or the next tile's A, C and
// residual.
struct PassFetch {
  PassFetch(const GemmArgs& g, const Pass& pass, int64_t row_tiles) {
    const GemmProblem& p = g.problem;
    const int64_t depth = pass.k_end - pass.k_begin, group = pass.panel_end - pass.panel_begin;
    tiles = group / kMainPanels;
    const bool whole = depth == p.k || g.choice.k_outside;
    if (b_in_panels(p) && pass.next_panel < pass.next_end && whole) {
      next_depth = pass.next_k + g.choice.k_block < p.k ? g.choice.k_block : p.k - pass.next_k;
      share = ((pass.next_end - pass.next_panel) * next_depth * kPanel + row_tiles - 1) / row_tiles;
      if (next_depth == p.k) runs[0] = fetch_run(share, tiles, depth);
    } else if (g.b_next && depth == p.k) {
      const int64_t panels = (p.n + kPanel - 1) / kPanel, first = panels < g.choice.n_group ? panels : g.choice.n_group;
      next_depth = p.k;
      share = (first * p.k * kPanel + row_tiles - 1) / row_tiles;
      runs[0] = fetch_run(share, tiles, depth);
    } else if (g.choice.fetch_rows && row_tiles > 1) {
      const int64_t rows = (pass.row_end - pass.row_begin) / row_tiles, width = group * kPanel;
      const bool has_residual = g.epilogue.residual && !p.residual_in_place && pass.k_end == p.k;
      const int64_t strides[kFetchRuns] = {
          !a_by_columns(p) && g.a_stride < 2 * depth ? g.a_stride : 0, g.c_stride < 2 * width ? g.c_stride : 0,
          has_residual && g.epilogue.residual_stride < 2 * width ? g.epilogue.residual_stride : 0};
      const int64_t all = strides[0] + strides[1] + strides[2];
      for (int64_t i = 0, sum = 0, begin = 0; i < kFetchRuns && all > 0; ++i) {
        sum += strides[i];
        const int64_t end = (tiles * sum + all / 2) / all;
        runs[i] = fetch_run(rows * strides[i], end - begin, depth);
        runs[i].near = rows * all <= kNearFloats;
        // So few that none fetches much beyond the end.
        const int64_t needed = (rows * strides[i] * runs[i].period + depth * kPanel - 1) / (depth * kPanel);
        if (needed < runs[i].tiles) runs[i].tiles = needed;
        begin = end;
        any = any || runs[i].tiles > 0;
      }
    }
  }

  bool nothing() const { return share == 0 && !any; }

  // next_rows: of A, behind the tile's.
  void aim(const GemmArgs& g, const Pass& pass, int64_t row_tile, const float* next_rows, RowBlock& block) const {
    block.fetches = 0;
    if (share && next_depth == g.problem.k) {
      block.fetches = 1;
      block.fetch[0] = runs[0];
      const bool beyond = pass.next_panel == pass.next_end;
      block.fetch[0].at = (beyond ? g.b_next : block.b + pass.next_panel * block.panel_stride) + row_tile * share;
    } else if (share) {
      aim_panels(g, pass, row_tile * share, block);
    } else if (any && block.row + block.rows < pass.row_end) {
      block.fetches = kFetchRuns;
      for (int i = 0; i < kFetchRuns; ++i) block.fetch[i] = runs[i];
      const int64_t column = pass.panel_begin * kPanel;
      block.fetch[0].at = next_rows;
      block.fetch[1].at = block.c + block.rows * g.c_stride + column;
      if (block.residual) block.fetch[2].at = block.residual + block.rows * g.epilogue.residual_stride + column;
    }
  }

  // A share of a block of k of the next panels: its parts lie apart.
  void aim_panels(const GemmArgs& g, const Pass& pass, int64_t from, RowBlock& block) const {
    const int64_t part = next_depth * kPanel, stride = g.problem.k * kPanel;
    const float* panels = block.b + pass.next_panel * stride + (pass.next_k - pass.k_begin) * kPanel;
    for (int64_t left = share, free = tiles; left > 0 && block.fetches < kFetchRuns;) {
      const int64_t within = from % part;
      const int64_t size = part - within < left ? part - within : left;
      const int64_t taken = (free * size + left - 1) / left;
      FetchRun& run = block.fetch[block.fetches++];
      run = fetch_run(size, taken, block.segment_k);
      run.at = panels + from / part * stride + within;
      from += size;
      left -= size;
      free -= taken;
    }
  }

  FetchRun runs[kFetchRuns];
  bool any = false;
  int64_t share = 0, tiles = 0, next_depth = 0;
};

// The rows of a pass within its block of k, side by side.
void copy_block(const GemmArgs& g, const float* a, const Pass& pass, float* out, int64_t pitch) {
  const int64_t rows = pass.row_end - pass.row_begin, depth = pass.k_end - pass.k_begin;
  if (a_by_columns(g.problem))
    transpose_matrix(a + pass.k_begin * g.a_stride + pass.row_begin, g.a_stride, out, pitch, depth, rows);
  else
    copy_rows(a + pass.row_begin * g.a_stride + pass.k_begin, g.a_stride, out, pitch, rows, depth);
}

// The pass's panels: those of a packed B, or such as are made of another one in `made`.
void take_panels(const GemmArgs& g, const float* b, const Pass& pass, float* made, RowBlock& block) {
  const GemmProblem& p = g.problem;
  const int64_t depth = pass.k_end - pass.k_begin;
  if (b_in_panels(p)) {
    block.b = b + pass.k_begin * kPanel;
    block.panel_stride = p.k * kPanel;
    block.b_end = b + (p.n + kPanel - 1) / kPanel * p.k * kPanel;
  } else {
    pack_b(g, b, pass.k_begin, depth, pass.panel_begin, pass.panel_end, made);
    block.b = made - pass.panel_begin * depth * kPanel;
    block.panel_stride = depth * kPanel;
  }
}

// The block's first row: of A from `a` on.
void begin_rows(const GemmArgs& g, const BatchPointers& at, int64_t row, const float* const* a, RowBlock& block) {
  block.segments = a;
  block.c = at.c + row * g.c_stride;
  block.residual = at.residual ? at.residual + row * g.epilogue.residual_stride : nullptr;
  block.row = row;
}

void run_pass(const GemmArgs& g, const BatchPointers& at, Pass pass, float* scratch) {
  const GemmProblem& p = g.problem;
  const int64_t depth = pass.k_end - pass.k_begin;
  RowBlock block{.segment_k = depth,
                 .a_stride = g.a_stride,
                 .panel_begin = pass.panel_begin,
                 .panel_end = pass.panel_end,
                 .n = p.n,
                 .c_stride = g.c_stride,
                 .first_k = pass.k_begin == 0,
                 .last_k = pass.k_end == p.k,
                 .half_units = g.choice.half_units,
                 .epilogue = &g.epilogue};
  take_panels(g, at.b, pass, scratch, block);
  float* a_scratch = scratch + (b_in_panels(p) ? 0 : g.choice.n_group * g.choice.k_block * kPanel);
  int64_t tiles = (pass.row_end - pass.row_begin + kMaxRows - 1) / kMaxRows, count = tiles;
  block.first_rows = tiles == 1 && b_in_panels(p) && p.n * p.k > kNearWeights;
  const bool copies = g.choice.copies_rows && rows_collide(g.a_stride);
  const int64_t pitch = copied_pitch(g.choice.k_block);
  if (g.choice.k_outside && pass.first) copy_block(g, at.a, pass, a_scratch, pitch);
  const bool in_place = !g.choice.k_outside && !copies && !a_by_columns(p);
  const int64_t rows = pass.row_end - pass.row_begin;
  const float* const first = at.a + pass.row_begin * g.a_stride + pass.k_begin;
  begin_rows(g, at, pass.row_begin, &first, block);
  if constexpr (kManyRows) {
    const int ends = in_place ? end_panels(block, rows) : 0;
    if (ends > 0) run_ends<kMaxRows>(block, ends, rows);
    pass.panel_end = block.panel_end -= ends;
    if (pass.panel_begin == pass.panel_end) return;
    const ManyTiles many = g.choice.panel_rows > 0 ? many_tiles(block) : ManyTiles{};
    if (many.run) {
      block.first_rows = false;  // they are fetched
      return run_rows_by_panels(block, many, rows, g.choice.panel_rows, g.b_next);
    }
  }
  const PassFetch fetch(g, pass, tiles);
  if (kManyRuns && in_place && fetch.nothing()) return run_row_blocks(block, rows);
  for (int64_t row = pass.row_begin; row < pass.row_end; row += block.rows, --tiles) {
    block.rows = tile_height(pass.row_end - row, tiles, kMaxRows);
    const float* a = at.a + row * g.a_stride + pass.k_begin;
    if (g.choice.k_outside) {
      block.a_stride = pitch;
      a = a_scratch + (row - pass.row_begin) * pitch;
    } else if (a_by_columns(p)) {
      transpose_matrix(at.a + pass.k_begin * g.a_stride + row, g.a_stride, a_scratch, g.choice.k_block, depth,
                       block.rows);
      a = a_scratch;
      block.a_stride = g.choice.k_block;
    } else if (copies) {
      block.a_stride = pitch;
      copy_rows(a, g.a_stride, a_scratch, pitch, block.rows, depth);
      a = a_scratch;
    }
    begin_rows(g, at, row, &a, block);
    fetch.aim(g, pass, count - tiles, at.a + (row + block.rows) * g.a_stride + pass.k_begin, block);
    run_row_block(block);
  }
}

// Runs `task`, and those behind it up to `end` that read the same panels or have the same rows, as one: panels pass
// once for all these rows, or are fetched ahead through all of them. Returns the task after them.
int64_t run_tasks(const GemmArgs& g, int64_t task, int64_t end, float* scratch) {
  const GemmProblem& p = g.problem;
  const GemmChoice& c = g.choice;
  const int64_t per_batch = c.m_tasks * c.n_tasks, batch = task / per_batch, within = task % per_batch;
  const int64_t m_task = within % c.m_tasks, n_task = within / c.m_tasks;
  const BatchPointers at = at_batch(g, batch);
  const int64_t panels = (p.n + kPanel - 1) / kPanel;
  const auto least = [](int64_t x, int64_t y) { return x < y ? x : y; };
  const bool rows = c.m_tasks > 1;
  const int64_t together = c.k_outside && rows ? 1 : least(end - task, rows ? c.m_tasks - m_task : c.n_tasks - n_task);
  const int64_t m_end = m_task + (rows ? together : 1), n_end = n_task + (rows ? 1 : together);
  Pass pass{.row_begin = p.m * m_task / c.m_tasks, .row_end = p.m * m_end / c.m_tasks};
  const int64_t first = n_task * c.n_block, last = least(panels, n_end * c.n_block);
  int64_t group = first, k = 0;
  for (bool more = true; more;) {
    pass.first = group == first;
    pass.panel_begin = group;
    pass.panel_end = least(last, group + c.n_group);
    pass.k_begin = k;
    pass.k_end = least(p.k, k + c.k_block);
    if (c.k_outside) {
      group = pass.panel_end < last ? pass.panel_end : first;
      if (group == first) k = pass.k_end;
      more = k < p.k;
    } else {
      k = pass.k_end < p.k ? pass.k_end : 0;
      if (k == 0) group = pass.panel_end;
      more = group < last;
    }
    pass.next_panel = more ? group : last;
    pass.next_end = least(last, pass.next_panel + c.n_group);
    pass.next_k = k;
    run_pass(g, at, pass, scratch);
  }
  return task + together;
}

void run(const GemmArgs& args, int64_t task_begin, int64_t task_end, float* scratch) {
  if (kWithFewRows && args.choice.few_rows) {
    for (int64_t task = task_begin; task < task_end; ++task) run_few_rows(args, task, scratch);
    return;
  }
  if constexpr (kHasPaired)
    if (args.choice.paired) {
      for (int64_t task = task_begin; task < task_end; ++task) run_paired(args, task, scratch);
      return;
    }
  for (int64_t task = task_begin; task < task_end;) task = run_tasks(args, task, task_end, scratch);
}

void run_strassen(const StrassenArgs& args, int64_t task_begin, int64_t task_end, float* scratch) {
  for (int64_t task = task_begin; task < task_end; ++task) run_strassen_task(args, run, task, scratch);
}

// Twelve independent chains cover the latency of two units on every set; the factors keep the values finite.
void fma_loop(int64_t rounds, float* sink) {
  F32 chain[12];
  MICA_UNROLL for (int i = 0; i < 12; ++i) chain[i] = set1(static_cast<float>(i));
  const F32 factor = set1(0.999f), term = set1(1e-3f);
  for (int64_t r = 0; r < rounds; ++r) MICA_UNROLL for (int i = 0; i < 12; ++i) chain[i] = fma(chain[i], factor, term);
  F32 sum = zero();
  MICA_UNROLL for (int i = 0; i < 12; ++i) sum = add(sum, chain[i]);
  store(sink, sum);
}

}  // namespace

extern const GemmKernels gemm_kernels;
const GemmKernels gemm_kernels = {.run = run,
                                  .row_block = run_row_block,
                                  .tile_rows = kMaxRows,
                                  .tile_panels = kMainPanels,
                                  .by_panels = kManyRows,
                                  .transpose = transpose_matrix,
                                  .fma_loop = fma_loop,
                                  .fma_loop_flops = 24 * kLanes,
                                  .strassen = kWithStrassen ? run_strassen : nullptr,
                                  .strassen_weights = kWithStrassen ? strassen_weights : nullptr,
                                  .paired_weights = kHasPaired ? paired_weights : nullptr};

}  // namespace mica::MICA_ISA
