// Winograd's products with weights that are transformed on the way: from the panels of the plain ones, so many channels
// of a few panels at a time, which stay in the second-level cache until they are multiplied. A quarter of the bytes
// come from memory, for a transform more in each block of tiles. Included by conv.isa.cc.
//
// A point's sums go on from block to block of channels in the order of the transformed form: the bits are its own.
#pragma once
#include "kernels/conv/winograd_weights.inl"

namespace mica::MICA_ISA {

// Channels of a slice, for the panels of a task.
struct WinogradPart {
  int64_t slice, first, count;
};

MICA_INLINE WinogradPart part_at(const ConvArgs& args, int64_t channels, int64_t index) {
  const int64_t block = args.choice.channel_block, parts = (channels + block - 1) / block;
  const int64_t first = index % parts * block;
  return {index / parts, first, channels - first < block ? channels - first : block};
}

// The taps of a part's first panel.
MICA_INLINE WinogradWeights taps_of(const WinogradPlane& plane, const ConvArgs& args, const TileTask& task,
                                    const WinogradPart& part) {
  WinogradWeights taps;
  const int64_t panels = panel_count(args.problem.out_channels / args.problem.groups);
  aim_taps(plane, args.problem, part.slice, args.w, task.group * panels + task.panel_begin, taps);
  taps.from += part.first * kPanel;
  taps.channels = part.count;
  return taps;
}

// To u[point][panel][channel][16], at the points in which the slice has a part.
MICA_INLINE void transform_part(const WinogradPlane& plane, const WinogradBlock& block, const TileTask& task,
                                WinogradWeights taps) {
  for (int64_t panel = task.panel_begin; panel < task.panel_end; ++panel) {
    float* to = block.u + (panel - task.panel_begin) * block.u_panel;
    for (int point = 0; point < plane.all_points(); ++point, to += block.u_point) taps.to[point] = to;
    winograd_weights(taps);
    taps.from += taps.panel_step;
  }
}

// The taps that are next, as lines that the calls of a part fetch. Each call takes a piece of one tap's lines: where
// calls are not a multiple of the taps, the first ones are in more pieces.
struct TapRuns {
  WinogradWeights taps;
  int64_t runs = 0, pieces = 0, more = 0;  // taps left of all panels; pieces of each, and how many are in one more
  int64_t line = 0;                        // of the tap
  int tap[2] = {};

  MICA_INLINE TapRuns(const WinogradWeights& next, int64_t panels, int64_t calls) : taps(next) {
    for (int axis = 0; axis < 2; ++axis) taps.taps[axis] -= taps.missing[axis];
    runs = panels * taps.taps[0] * taps.taps[1];
    if (runs > 0) pieces = calls / runs, more = calls % runs;
    if (pieces == 0) pieces = 1, more = 0;
  }
  MICA_INLINE FetchRun take(int64_t tiles, int64_t depth) {
    if (runs == 0) return {};
    const int64_t parts = pieces + (more > 0), all = (taps.channels + parts - 1) / parts, left = taps.channels - line;
    FetchRun fetch = fetch_run((left < all ? left : all) * kPanel, tiles, depth);
    fetch.at = taps.from + tap[0] * taps.tap_step[0] + tap[1] * taps.tap_step[1] + line * kPanel;
    line += all;
    if (line < taps.channels) return fetch;
    line = 0, more -= more > 0, --runs;
    if (++tap[1] < taps.taps[1]) return fetch;
    tap[1] = 0;
    if (++tap[0] < taps.taps[0]) return fetch;
    tap[0] = 0;
    taps.from += taps.panel_step;
    return fetch;
  }
};

// Adds a part's products to those of the parts before it.
MICA_INLINE void multiply_part(const WinogradPlane& plane, const WinogradBlock& block, const TileTask& task,
                               const WinogradPart& part, int64_t channels, TapRuns& next) {
  static constexpr GemmEpilogue kPlain{};
  const int64_t tiles = task.tile_end - task.tile_begin, panels = task.panel_end - task.panel_begin;
  const int64_t count = (tiles + gemm_kernels.tile_rows - 1) / gemm_kernels.tile_rows;
  RowBlock rows{.segment_k = part.count,
                .a_stride = block.v_row,
                .panel_stride = block.u_panel,
                .b_end = block.u + plane.all_points() * block.u_point - block.u_panel,
                .panel_end = panels,
                .n = panels * kPanel,
                .c_stride = block.m_row,
                .fetches = 1,
                .last_k = false,
                .epilogue = &kPlain};
  for (int point = 0; point < plane.all_points(); ++point) {
    const WinogradRange range = winograd_range(plane, point);
    if (part.slice < range.first || part.slice >= range.first + range.count) continue;
    rows.first_k = part.slice == range.first && part.first == 0;
    rows.b = block.u + point * block.u_point;
    const float* v = block.v + point * block.v_point + part.slice * channels + part.first;
    int64_t row_tile = 0;
    for (int64_t tile = 0; tile < tiles; tile += rows.rows, ++row_tile) {
      rows.rows = tile_height(tiles - tile, count - row_tile, gemm_kernels.tile_rows);
      rows.fetch[0] = next.take(panels / gemm_kernels.tile_panels, part.count);
      const float* a = v + tile * block.v_row;
      rows.segments = &a;
      rows.c = block.m + point * block.m_point + tile * block.m_row;
      gemm_kernels.row_block(rows);
    }
  }
}

// A task's products and outputs, a few panels at a time.
void run_on_the_way(const WinogradPlane& plane, const ConvArgs& args, const WinogradBlock& block, TileTask task) {
  const int64_t channels = args.problem.in_channels / args.problem.groups, panel_end = task.panel_end;
  const int64_t parts = plane.slices() * ((channels + args.choice.channel_block - 1) / args.choice.channel_block);
  const int64_t tiles = task.tile_end - task.tile_begin;
  const int64_t calls = plane.all_points() * ((tiles + gemm_kernels.tile_rows - 1) / gemm_kernels.tile_rows);
  const auto panels_from = [&](int64_t first) {
    TileTask few = task;
    few.panel_begin = first;
    few.panel_end = first + args.choice.n_group < panel_end ? first + args.choice.n_group : panel_end;
    return few;
  };
  for (TileTask now = panels_from(task.panel_begin); now.panel_begin < panel_end; now = panels_from(now.panel_end)) {
    for (int64_t i = 0; i < parts; ++i) {
      const WinogradPart part = part_at(args, channels, i);
      transform_part(plane, block, now, taps_of(plane, args, now, part));
      // Behind a task's last panels there may be none.
      const bool turns = i + 1 == parts, ends = turns && now.panel_end == panel_end;
      const TileTask then = turns && !ends ? panels_from(now.panel_end) : now;
      TapRuns next(taps_of(plane, args, then, part_at(args, channels, turns ? 0 : i + 1)),
                   ends ? 0 : then.panel_end - then.panel_begin, calls);
      multiply_part(plane, block, now, part, channels, next);
    }
    winograd_outputs(plane, args, block, now);
  }
}

// Tasks that differ in their panels alone share the transformed input.
void run_winograd_tasks(const ConvArgs& args, int64_t task_begin, int64_t task_end, float* scratch) {
  const ConvProblem& p = args.problem;
  const WinogradPlane plane = winograd_plane(p, args.choice.algorithm);
  const WinogradBlock block = winograd_scratch(plane, args, scratch);
  const int64_t columns = panel_count(p.out_channels / p.groups) * kPanel;
  const int64_t weights = plane.matrices() * columns * (p.in_channels / p.groups);
  TileTask task{.group = -1};
  while (task_begin < task_end) {
    const TileTask before = task;
    task = tile_tasks(args, task_begin, task_begin + 1);
    if (task.group != before.group || task.tile_begin != before.tile_begin) winograd_inputs(plane, args, block, task);
    if (args.choice.channel_block > 0) {
      run_on_the_way(plane, args, block, task);
      continue;
    }
    winograd_products(plane, p, block, args.w + task.group * weights, task);
    winograd_outputs(plane, args, block, task);
  }
}

}  // namespace mica::MICA_ISA
