#include "base/format.h"
#include "base/integers.h"
#include "base/isa.h"
#include "kernels/gemm/gemm.h"
#include "kernels/pack/pack.h"
#include "kernels/split.h"

namespace mica {
namespace {

// A task of less work than this costs more to hand out than it gives: about 5 µs at 100 GFLOP/s, or of reading weights
// from the last cache.
constexpr double kLeastTaskFlops = 5e5;
constexpr int64_t kLeastTaskBytes = 128 << 10;
constexpr int64_t kStreamedPanels = 8, kStreamedRows = 160, kStreamedRowsNear = 256;
// Of panels that are made on the way for few rows: steps of k and panels at a time.
constexpr int64_t kMadeDepth = 256, kMadePanels = 8;
// Chunks for each thread, so that one that is late leaves work to the others.
constexpr int64_t kTasksPerThread = 4;

// Rows are copied where more of them than a set of the first-level cache holds would meet in each, and where enough
// panels pass to be worth it.
constexpr int kWays = 8;
constexpr int64_t kCopyPanels = 4;

// Blocks of k pass one after the other where so many panels with all of k are too much, and where there are enough of
// them.
constexpr int64_t kOutsidePanels = 4, kLeastOutside = 8;

// Tasks of as many rows each: as many for every thread and at least `wanted`, of those the ones with the fewest tiles.
int64_t tasks_of_rows(int64_t m, int64_t tile_rows, int64_t wanted, int64_t threads) {
  const int64_t tiles = ceil_div(m, tile_rows), unit = least(least(threads, wanted), tiles);
  const int64_t first = least(ceil_div(wanted, unit), tiles / unit) * unit;
  int64_t best = first;
  for (int64_t tasks = first + unit; tasks <= least(tiles, 2 * first); tasks += unit)
    if (tasks * ceil_div(ceil_div(m, tasks), tile_rows) < best * ceil_div(ceil_div(m, best), tile_rows)) best = tasks;
  return best;
}

// Panels of a group where the next one is fetched into the same `bytes`.
int64_t streamed_panels(int64_t bytes, int64_t depth) {
  const int64_t fit = bytes / (2 * depth * kPanel * static_cast<int64_t>(sizeof(float)));
  return least(kStreamedPanels, most(fit / 2 * 2, 2));
}

// Where four panels with all of k fill half of the second-level cache, the rows of A that pass by do not stay there,
// nor do those of a high tile in the first-level cache if they collide. Blocks of k then pass one after the other, each
// with a copy of its part of A that takes a third of the cache.
bool takes_blocks_of_k(const GemmProblem& p, int64_t panels, int64_t tile_rows, const GemmLimits& limits) {
  const int64_t group = kOutsidePanels * p.k * kPanel * static_cast<int64_t>(sizeof(float));
  return tile_rows > kWays && p.b_form == MatrixForm::kPanels && !p.residual_in_place && panels >= kLeastOutside &&
         group >= limits.l2_bytes / 2;
}

void block_k(const GemmProblem& p, const GemmLimits& limits, GemmChoice& c) {
  const int64_t most_depth = most(limits.l2_bytes / 2048, 64), blocks = ceil_div(p.k, most_depth);
  c.k_outside = true;
  c.k_block = ceil_div(ceil_div(p.k, blocks), 64) * 64;
  const int64_t tiles = ceil_div(c.m_block, c.tile_rows);
  const int64_t fit = most(limits.l2_bytes / 3 / (4 * c.k_block) / c.tile_rows, 1);
  c.m_tasks *= ceil_div(tiles, fit);
  c.m_block = ceil_div(p.m, c.m_tasks);
}

// What a worker holds: sums of few rows, panels that are made of a plain B, and copies of rows of A.
void take_scratch(const GemmProblem& p, GemmChoice& c) {
  if (c.few_rows) {
    c.scratch_floats = p.m * (few_columns(c.n_block * kPanel) + (p.a_form == MatrixForm::kTransposed ? p.k : 0));
    return;
  }
  const bool streams = p.m <= c.tile_rows;
  if (p.b_form != MatrixForm::kPanels) {
    // Packing every panel at once would need scratch as large as B.
    if (streams) c.n_group = least(c.n_group, p.b_form == MatrixForm::kRows ? kMadePanels : 2);
    c.scratch_floats += c.n_group * c.k_block * kPanel;
  }
  if (c.k_outside) {
    c.scratch_floats += c.m_block * copied_pitch(c.k_block);
    return;
  }
  c.copies_rows =
      p.a_form == MatrixForm::kRows && !streams && c.tile_rows > kWays && c.n_group >= kCopyPanels && rows_collide(p.k);
  if (p.a_form == MatrixForm::kTransposed) c.scratch_floats += c.tile_rows * c.k_block;
  if (c.copies_rows) c.scratch_floats += c.tile_rows * copied_pitch(c.k_block);
}

// A quarter of the second-level cache in rows of A at a time passes one panel after the other; all panels of a task are
// then one group. Far more rows than that cache holds gain nothing by it.
void take_panel_rows(const GemmProblem& p, Isa isa, const GemmLimits& limits, GemmChoice& c) {
  if (!gemm_kernels(isa).by_panels || !b_in_panels(p) || a_by_columns(p) || c.k_outside || c.copies_rows) return;
  const int64_t row_bytes = 4 * p.k;
  if (p.k == 0 || p.k > kColumnDepth || c.k_block < p.k || c.m_block < 2 * c.tile_rows) return;
  if (c.m_block * row_bytes > 2 * limits.l2_bytes) return;
  c.panel_rows = most(limits.l2_bytes / 4 / row_bytes / c.tile_rows, 2) * c.tile_rows;
  c.n_group = c.n_block;
}

}  // namespace

int gemm_tile_rows(Isa isa) { return gemm_kernels(isa).tile_rows; }

GemmChoice choose_gemm(const GemmProblem& p, Isa isa, const GemmLimits& limits) {
  GemmChoice c{.tile_rows = gemm_tile_rows(isa), .half_units = limits.half_units};
  const int64_t panels = panel_count(p.n), batches = p.batch[0] * p.batch[1];
  if (p.m <= 0 || panels == 0 || batches <= 0) return c;

  // Half of the second-level cache holds a group of panels while rows pass by; the rest is for A and C.
  const int64_t step_bytes = kPanel * static_cast<int64_t>(sizeof(float));
  const int64_t group_bytes = limits.l2_bytes / 2;
  const int64_t main_panels = least(panels, 2);
  const bool streams = p.m <= c.tile_rows;  // each panel is read once: nothing to keep
  c.k_block = most(p.k, 1);
  // Panels that are made on the way are used at once.
  if (streams && p.b_form == MatrixForm::kRows && !p.residual_in_place) c.k_block = least(c.k_block, kMadeDepth);
  if (!streams && !p.residual_in_place && p.k * step_bytes * main_panels > group_bytes)
    c.k_block = most(group_bytes / (step_bytes * main_panels) / 64 * 64, 64);
  c.n_group = streams ? panels : most(group_bytes / (c.k_block * step_bytes) / main_panels * main_panels, main_panels);
  c.n_group = least(c.n_group, panels);

  const double flops = 2.0 * static_cast<double>(p.m * panels * kPanel) * static_cast<double>(most(p.k, 1));
  int64_t wanted = limits.threads > 1 ? ceil_div(kTasksPerThread * limits.threads, batches) : 1;
  const int64_t streamed = panels * p.k * step_bytes;
  wanted = most(1, least(wanted, most(static_cast<int64_t>(flops / kLeastTaskFlops), streamed / kLeastTaskBytes)));
  const int64_t row_tiles = ceil_div(p.m, c.tile_rows);
  // Columns are split first of a plain B, which each task packs that reads it, of one that is larger than A and does
  // not stay in the cache, and where rows are too few. Else rows are: those of a thread are the ones that it has just
  // written.
  const bool split_columns = p.b_form != MatrixForm::kPanels || row_tiles < 2 * limits.threads ||
                             (streamed > limits.l2_bytes / 2 && p.n > p.m);
  const int64_t column_tasks = split_columns ? least(wanted, panels) : 1;
  c.n_block = panels_of_task(panels, column_tasks, limits.threads);
  c.n_tasks = ceil_div(panels, c.n_block);
  c.m_tasks =
      tasks_of_rows(p.m, c.tile_rows, ceil_div(wanted, column_tasks), c.n_tasks * batches > 1 ? 1 : limits.threads);
  c.m_block = ceil_div(p.m, c.m_tasks);
  if (!streams && takes_blocks_of_k(p, panels, c.tile_rows, limits)) block_k(p, limits, c);
  const int64_t a_bytes = c.m_block * c.k_block * 4, b_bytes = panels * c.k_block * step_bytes;
  // Rows that stay near pass by two panels at a time while the next two are fetched. More rows want the fetches for
  // themselves, unless all that there is stays near.
  const int64_t c_bytes = 4 * c.m_block * p.n;
  const bool near = a_bytes + b_bytes + c_bytes <= limits.l2_bytes;
  if (p.b_form == MatrixForm::kPanels && !streams && !c.k_outside && a_bytes <= limits.l2_bytes / 4 &&
      b_bytes > limits.l2_bytes / 8 && c.m_block <= (near ? kStreamedRowsNear : kStreamedRows))
    c.n_group = least(c.n_group, streamed_panels(limits.l2_bytes - limits.l2_bytes / 8 - a_bytes, c.k_block));
  c.fetch_rows = !streams && a_bytes + b_bytes + c_bytes > limits.l2_bytes / 2;
  c.n_group = least(c.n_group, c.n_block);
  c.tasks = batches * c.m_tasks * c.n_tasks;
  c.few_rows = kWithFewRows && p.b_form != MatrixForm::kPanels && p.m <= kMostFewRows;
  take_scratch(p, c);
  take_panel_rows(p, isa, limits, c);
  return c;
}

size_t print(const GemmProblem& p, const GemmChoice& c, char* out, size_t size) {
  return format_to(
      out, size, "m={} n={} k={} batch={}x{} rows={} block={}x{} group={} k_block={} panel_rows={} tasks={} scratch={}",
      p.m, p.n, p.k, p.batch[0], p.batch[1], c.tile_rows, c.m_block, c.n_block, c.n_group, c.k_block, c.panel_rows,
      c.tasks, c.scratch_floats * static_cast<int64_t>(sizeof(float)));
}

}  // namespace mica
