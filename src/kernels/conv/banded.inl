// Convolution in groups as products of rows in a band: the input rows under a few output lines are copied behind their
// padding, group beside group, in the order in which they lie in memory. In place, a group's part of a pixel is a line
// or two of the cache among those of all channels, which no processor foresees, and a run of k for each tap; in the
// band it stands beside its neighbours, so that a whole kernel row is one run, and no tile meets an edge. Included by
// conv.isa.cc.
//
// Bits are those of kImplicit's other ways: steps of k have the same order, and what lies outside is zero.
#pragma once
#include "kernels/conv/implicit.inl"

namespace mica::MICA_ISA {

// Groups [group_begin, group_end) of the input rows under the lines [line_begin, line_end) of one image.
struct GroupBand {
  int64_t group_begin, group_end, line_begin, line_end;  // lines count through the batch
  Pixel corner;                                          // the input pixel under tap 0 of the first line
  int64_t rows, columns, row, group;                     // row, group: floats from one to the next
  float* data;
};

// One pixel's channels of all groups to `out`, band.group floats apart.
template <bool kWhole>
MICA_INLINE void copy_groups(const float* in, int64_t channels, int64_t groups, float* out, int64_t group) {
  for (int64_t g = 0; g < groups; ++g, in += channels, out += group) {
    if constexpr (kWhole)
      for (int64_t c = 0; c < channels; c += kLanes) store(out + c, load(in + c));
    else
      copy_floats(in, out, channels);
  }
}

MICA_INLINE void copy_group_band(const ConvArgs& args, const GroupBand& band) {
  const ConvProblem& p = args.problem;
  const int64_t channels = p.in_channels / p.groups, groups = band.group_end - band.group_begin;
  const auto within = [&](int64_t x) { return x < 0 ? 0 : x > band.columns ? band.columns : x; };
  const int64_t begin = within(p.pad[2]), last = within(p.pad[2] + p.in[2]);
  const int64_t end = last > begin ? last : begin;
  for (int64_t y = 0; y < band.rows; ++y) {
    const Pixel from{band.corner.image, 0, band.corner.y + y, begin - p.pad[2]};
    if (!inside(from.y, p.in[1])) continue;
    float* row = band.data + y * band.row;
    for (int64_t g = 0; g < groups; ++g) {
      zero_floats(row + g * band.group, begin * channels);
      zero_floats(row + g * band.group + end * channels, (band.columns - end) * channels);
    }
    const float* in = args.x + at(p.in_view, from) + band.group_begin * channels;
    float* out = row + begin * channels;
    const auto copy = channels % kLanes == 0 ? copy_groups<true> : copy_groups<false>;
    for (int64_t i = begin; i < end; ++i, in += p.in_view.pixel, out += channels)
      copy(in, channels, groups, out, band.group);
  }
}

// The kernel rows under a line that lie inside the input: pointers to their runs, and the first of them.
struct BandReach {
  int64_t first, count;
};
MICA_INLINE BandReach aim_runs(const ConvArgs& args, const GroupBand& band, int64_t line, const float* data,
                               const float** runs) {
  const ConvProblem& p = args.problem;
  const int64_t width = segment_width(p, args.choice), in_row = p.kernel[2] / width;
  const int64_t channels = p.in_channels / p.groups;
  int64_t first = p.kernel[1], count = 0;
  for (int64_t y = 0; y < p.kernel[1]; ++y) {
    const int64_t row = (line - band.line_begin) * p.stride[1] + y * p.dilation[1];
    if (!inside(band.corner.y + row, p.in[1])) continue;
    if (first == p.kernel[1]) first = y;
    for (int64_t x = 0; x < in_row; ++x) runs[count++] = data + row * band.row + x * width * p.dilation[2] * channels;
  }
  return {first * in_row, count};
}

// The lines of a band of one group. `runs` has room for all runs of a line.
MICA_INLINE void run_group_lines(const ConvArgs& args, const GroupBand& band, int64_t group, const float** runs) {
  const ConvProblem& p = args.problem;
  const ConvChoice& c = args.choice;
  const int64_t channels = p.in_channels / p.groups, columns = p.out_channels / p.groups, step = p.stride[2] * channels;
  const int64_t depth = c.segments * c.segment_k, panels = panel_count(columns);
  const float* const data = band.data + (group - band.group_begin) * band.group;
  const float* const w = args.w + group * panels * depth * kPanel;
  GemmEpilogue epilogue = args.epilogue;
  epilogue.residual_stride = p.residual_view.pixel;
  if (epilogue.bias) epilogue.bias += group * columns;
  RowBlock block{.segments = runs,
                 .segment_k = c.segment_k,
                 .a_stride = step,
                 .panel_stride = depth * kPanel,
                 .b_end = args.w + p.groups * panels * depth * kPanel,
                 .panel_end = panels,
                 .n = columns,
                 .c_stride = p.out_view.pixel,
                 .column = group * columns,
                 .half_units = c.half_units,
                 .epilogue = &epilogue};
  // Each tile fetches a piece of the weights of the group behind it.
  const int64_t tiles = (band.line_end - band.line_begin) * c.tiles_per_row;
  const int64_t piece = (panels * depth * kPanel + tiles - 1) / tiles;
  block.fetch[0] = fetch_run(piece, 1, depth);
  block.fetch[0].at = w + panels * depth * kPanel;
  block.fetches = group + 1 < p.groups;
  for (int64_t line = band.line_begin; line < band.line_end; ++line) {
    const Pixel first{line / p.out[1], 0, line % p.out[1], 0};
    const BandReach reach = aim_runs(args, band, line, data, runs);
    block.segment_count = reach.count;
    block.b = w + reach.first * c.segment_k * kPanel;
    block.c = args.y + at(p.out_view, first) + block.column;
    const GemmEpilogue& e = args.epilogue;
    block.residual = e.residual ? e.residual + at(p.residual_view, first) + block.column : nullptr;
    block.row = line * p.out[2];
    for (int64_t left = p.out[2], tile = c.tiles_per_row; left > 0; left -= block.rows, --tile) {
      block.rows = static_cast<int>((left + tile - 1) / tile);
      for (int i = 0; i < block.rows; ++i)
        for (int64_t j = 0; j < columns; j += kPanel) prefetch(block.c + i * block.c_stride + j);
      gemm_kernels.row_block(block);
      block.row += block.rows;
      block.c += block.rows * block.c_stride;
      if (block.residual) block.residual += block.rows * epilogue.residual_stride;
      if (block.fetches) block.fetch[0].at += piece;
      for (int64_t s = 0; s < reach.count; ++s) runs[s] += block.rows * step;
    }
  }
}

// The lines [line, end) of some groups.
MICA_INLINE void run_bands(const ConvArgs& args, GroupBand& band, int64_t line, int64_t end, const float** runs) {
  const ConvProblem& p = args.problem;
  const auto least = [](int64_t a, int64_t b) { return a < b ? a : b; };
  for (int64_t next; line < end; line = next) {
    const int64_t image = line / p.out[1], y = line % p.out[1];
    next = least(end, least(line + args.choice.band_rows, (image + 1) * p.out[1]));
    band.line_begin = line;
    band.line_end = next;
    band.corner = {image, 0, y * p.stride[1] - p.pad[1], -p.pad[2]};
    band.rows = (next - line - 1) * p.stride[1] + (p.kernel[1] - 1) * p.dilation[1] + 1;
    copy_group_band(args, band);
    for (int64_t g = band.group_begin; g < band.group_end; ++g) run_group_lines(args, band, g, runs);
  }
}

void run_banded_task(const ConvArgs& args, int64_t task, float* scratch) {
  const ConvProblem& p = args.problem;
  const ConvChoice& c = args.choice;
  const auto least = [](int64_t a, int64_t b) { return a < b ? a : b; };
  const int64_t lines = p.images * p.out[1], line_tasks = (lines + c.row_block - 1) / c.row_block;
  const int64_t line = task % line_tasks * c.row_block, runs = (c.segments * 2 + 15) / 16 * 16;
  const int64_t end = least(p.groups, (task / line_tasks + 1) * c.channel_block);
  GroupBand band{.group_end = task / line_tasks * c.channel_block,
                 .columns = c.band_columns,
                 .row = c.band_columns * (p.in_channels / p.groups),
                 .group = c.group_pitch,
                 .data = scratch + runs};
  while (band.group_end < end) {
    band.group_begin = band.group_end;
    band.group_end = least(end, band.group_begin + c.channel_pass);
    run_bands(args, band, line, least(lines, line + c.row_block), reinterpret_cast<const float**>(scratch));
  }
}

}  // namespace mica::MICA_ISA
