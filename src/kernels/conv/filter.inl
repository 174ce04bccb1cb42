// Convolution from planes to planes: the lanes of a vector are pixels of a line. Where channels are few, as those of
// pictures and of heads, vectors of channels would be empty for the most part. Included by conv.isa.cc.
//
// The input rows of a group under a few output lines are copied as for other planes (conv/planes.inl); a step of k is a
// number times a row from its tap on.
#pragma once
#include "kernels/conv/planes.inl"

namespace mica::MICA_ISA {

struct FilterTile {
  const float* in;         // the input under the first output's tap 0
  int64_t in_row;          // floats to that of the next line
  const int64_t* offsets;  // of each step of k from there
  int64_t steps;
  const float* w;     // so many numbers for each output channel
  const float* bias;  // of each, or null
  float* out;
  int64_t out_row, out_channel;
  int lanes;  // of the last vector
  LaneFinish finish;
};

// Finishes and stores the sums of `rows` lines of `outs` channels, `vectors` vectors of each.
__attribute__((noinline)) void put_filtered(const FilterTile& t, const float* sums, int rows, int outs, int vectors) {
  const LaneFinish finish = t.finish;
  for (int i = 0; i < rows; ++i)
    for (int o = 0; o < outs; ++o) {
      const F32 bias = t.bias ? set1(t.bias[o]) : zero();
      float* out = t.out + i * t.out_row + o * t.out_channel;
      for (int v = 0; v < vectors; ++v, sums += kLanes, out += kLanes) {
        const F32 y = finish(add(load(sums), bias));
        if (v + 1 < vectors || t.lanes == kLanes)
          store(out, y);
        else
          store_partial(out, y, t.lanes);
      }
    }
}

// kRows lines of kOuts channels, kVectors vectors of each.
template <int kRows, int kOuts, int kVectors>
__attribute__((noinline)) void filter_tile(const FilterTile& t) {
  F32 sum[kRows][kOuts][kVectors];
  MICA_UNROLL for (int i = 0; i < kRows; ++i) MICA_UNROLL for (int o = 0; o < kOuts; ++o)
      MICA_UNROLL for (int v = 0; v < kVectors; ++v) sum[i][o][v] = zero();
  for (int64_t step = 0; step < t.steps; ++step) {
    const float* in = t.in + t.offsets[step];
    F32 w[kOuts];
    MICA_UNROLL for (int o = 0; o < kOuts; ++o) w[o] = set1(t.w[o * t.steps + step]);
    MICA_UNROLL for (int i = 0; i < kRows; ++i) MICA_UNROLL for (int v = 0; v < kVectors; ++v) {
      const F32 value = load(in + i * t.in_row + v * kLanes);
      MICA_UNROLL for (int o = 0; o < kOuts; ++o) sum[i][o][v] = fma(value, w[o], sum[i][o][v]);
    }
  }
  alignas(64) float sums[kRows][kOuts][kVectors][kLanes];
  MICA_UNROLL for (int i = 0; i < kRows; ++i) MICA_UNROLL for (int o = 0; o < kOuts; ++o)
      MICA_UNROLL for (int v = 0; v < kVectors; ++v) store(sums[i][o][v], sum[i][o][v]);
  put_filtered(t, sums[0][0][0], kRows, kOuts, kVectors);
}

struct FilterTiles {
  void (*fn)(const FilterTile&);
  int rows, outs, vectors;
};
// Those for so many lines, channels and pixels. Lines share a step's number, channels its pixels.
MICA_INLINE FilterTiles filter_tiles(int64_t lines, int64_t channels, int64_t pixels) {
  static constexpr FilterTiles kTiles[] = {{filter_tile<1, 1, 1>, 1, 1, 1}, {filter_tile<1, 1, 2>, 1, 1, 2},
                                           {filter_tile<4, 1, 1>, 4, 1, 1}, {filter_tile<4, 1, 2>, 4, 1, 2},
                                           {filter_tile<1, 4, 1>, 1, 4, 1}, {filter_tile<2, 4, 1>, 2, 4, 1}};
  return kTiles[channels >= 4 ? 4 + (lines >= 2) : 2 * (lines >= 4) + (pixels > kLanes)];
}

// All channels of the lines of a band; `t` has what they share, and its outputs begin at the band's first line.
__attribute__((noinline)) void filter_band(FilterTile t, int64_t lines, int64_t channels, int64_t pixels) {
  const float *in = t.in, *w = t.w, *bias = t.bias;
  float* out = t.out;
  for (int64_t channel = 0, outs; channel < channels; channel += outs) {
    outs = channels - channel < 4 ? 1 : 4;
    t.w = w + channel * t.steps;
    t.bias = bias ? bias + channel : nullptr;
    for (int64_t line = 0, rows; line < lines; line += rows) {
      rows = filter_tiles(lines - line, outs, pixels).rows;
      for (int64_t x = 0, width; x < pixels; x += width) {
        const int64_t left = pixels - x;
        const FilterTiles tiles = filter_tiles(rows, outs, left);
        width = tiles.vectors * kLanes;
        t.lanes = static_cast<int>(left < width ? left - (tiles.vectors - 1) * kLanes : kLanes);
        t.in = in + line * t.in_row + x;
        t.out = out + channel * t.out_channel + line * t.out_row + x;
        tiles.fn(t);
      }
    }
  }
}

// The group whose lines a task makes, as a problem of its own.
struct FilteredGroup {
  ConvArgs args;
  PictureBand band;
};
void filter_lines(const void* context, const Pixel& o, int64_t lines) {
  const auto& [args, b] = *static_cast<const FilteredGroup*>(context);
  const ConvProblem& p = args.problem;
  const GemmEpilogue& e = args.epilogue;
  const FilterTile t{.in = b.rows,
                     .in_row = p.stride[1] * b.row,
                     .offsets = b.offsets,
                     .steps = args.choice.segments,
                     .w = args.w,
                     .bias = e.bias,
                     .out = args.y + at(p.out_view, o),
                     .out_row = p.out_view.row,
                     .out_channel = p.out_view.channel,
                     .lanes = kLanes,
                     .finish = LaneFinish(e)};
  filter_band(t, lines, p.out_channels, p.out[2]);
  for (int64_t i = 0; i < p.out_channels && !LaneFinish::suffices(e); ++i) {
    float* out = t.out + i * t.out_channel;
    kActivateRows[static_cast<int>(e.activation)](
        {out, t.out_row, out, t.out_row, nullptr, 0, false, lines, p.out[2], e.a, e.b});
  }
}

void run_filter_task(const ConvArgs& args, int64_t task, float* scratch) {
  const int64_t parts = args.choice.tasks / args.problem.groups, group = task / parts;
  FilteredGroup one{args, {}};
  ConvProblem& p = one.args.problem = problem_of_group(args.problem);
  one.args.x += group * p.in_channels * p.in_view.channel;
  one.args.y += group * p.out_channels * p.out_view.channel;
  one.args.w += group * p.out_channels * args.choice.segments;
  if (args.epilogue.bias) one.args.epilogue.bias += group * p.out_channels;
  one.band = picture_band(one.args, (p.out[2] + kLanes - 1) / kLanes * kLanes, kLanes, scratch);
  over_plane_bands(one.args, one.band, task % parts, filter_lines, &one);
}

}  // namespace mica::MICA_ISA
