// Convolution in groups of few input channels. Included by conv.isa.cc.
//
// Lanes are output channels, and no lane is spent on a channel of another group. When a band of input rows is copied
// behind its padding, each pixel is kept once for every input of a group, which then stands where its outputs do.
//
// Groups of as many output as input channels, a power of two from 2 to 32, need no more than four of such versions. An
// output n needs the inputs n ^ j of its group, for all j below the group's width. With j = d ^ 4b, d < 4:
//
//   y[n] = Σ_d S_d[n ^ d],   S_d[m] = Σ_taps Σ_b x[m ^ 4b] · w[input m ^ 4b, output m ^ d]
//
// so that the sums S_d run over whole vectors as they lie in memory: the exchange by 4b is made once when a pixel is
// copied, the one by d once when an output is finished. Groups of two have d < 2 and b = 0.
//
// The order of the sums does not depend on the number of lanes.
#pragma once
#include "kernels/conv/depthwise.inl"

namespace mica::MICA_ISA {

// Outputs of a tile: their sums, as many vectors of input and one of weights fit the registers.
template <int kDiagonals>
inline constexpr int kWideGroupedTile = kDiagonals == 1    ? 7
                                        : kRegisters >= 32 ? (kDiagonals == 2 ? 7 : 6)
                                                           : (kDiagonals == 2 ? 4 : 3);
inline constexpr int kNarrowGroupedTile = kRegisters >= 32 ? 4 : 2;
static_assert(kWideGroupedTile<1> <= kMostGroupedTile && kWideGroupedTile<2> <= kMostGroupedTile &&
              kWideGroupedTile<4> <= kMostGroupedTile);

// One vector of channels of an output row.
struct GroupedRow {
  const DepthwiseTap* taps;  // rows of the band, at the first column and the first channel
  int64_t tap_count;
  int64_t steps, pixel_step;  // of a row of taps: taps, for each its blocks of channels; floats from output to output
  const int64_t* step;        // where m ^ 4b of each stands
  const float* bias;          // or null
  float* out;
  int64_t out_pixel;
  int lanes;
  LaneFinish finish;
  const float* fetch;  // weights of the channels that come next, up to fetch_end, a part behind each tile
  const float* fetch_end;
  int64_t fetch_floats;
};

template <int kDiagonals>
MICA_INLINE F32 fold(const F32 (&sum)[kDiagonals]) {
  if constexpr (kDiagonals == 1)
    return sum[0];
  else if constexpr (kDiagonals == 2)
    return add(sum[0], exchange<1>(sum[1]));
  else
    return add(add(sum[0], exchange<1>(sum[1])), exchange<2>(add(sum[2], exchange<1>(sum[3]))));
}

// `count` outputs from output `o` on, at most kPixels.
template <int kDiagonals, int kPixels>
void grouped_tile(const GroupedRow& g, int64_t o, int64_t count) {
  F32 sum[kPixels][kDiagonals];
  const F32 bias = g.bias ? load_partial(g.bias, g.lanes) : zero();
  MICA_UNROLL for (int i = 0; i < kPixels; ++i) {
    sum[i][0] = bias;
    MICA_UNROLL for (int d = 1; d < kDiagonals; ++d) sum[i][d] = zero();
  }
  for (int64_t r = 0; r < g.tap_count; ++r) {
    const float* column = g.taps[r].in + o * g.pixel_step;
    const float* w = g.taps[r].w;
    for (int64_t s = 0; s < g.steps; ++s, w += kDiagonals * kPanel) {
      const float* in = column + g.step[s];
      F32 value[kPixels];
      MICA_UNROLL for (int i = 0; i < kPixels; ++i) value[i] = load(in + i * g.pixel_step);
      MICA_UNROLL for (int d = 0; d < kDiagonals; ++d) {
        const F32 weight = load(w + d * kPanel);
        MICA_UNROLL for (int i = 0; i < kPixels; ++i) sum[i][d] = fma(value[i], weight, sum[i][d]);
      }
    }
  }
  const LaneFinish finish = g.finish;  // a copy: what is stored might alias it
  float* out = g.out + o * g.out_pixel;
  MICA_UNROLL for (int i = 0; i < kPixels; ++i) if (i < count) {
    const F32 y = finish(fold<kDiagonals>(sum[i]));
    if (g.lanes == kLanes)
      store(out + i * g.out_pixel, y);
    else
      store_partial(out + i * g.out_pixel, y, g.lanes);
  }
}

// A row's tiles: as many wide ones as needed, some of them narrow where that leaves less over. Groups of one sum, which
// are rare, have wide ones only.
struct GroupedTiles {
  int wide;
  int64_t count, wide_count;
  void (*run_wide)(const GroupedRow& g, int64_t o, int64_t count);
  void (*run_narrow)(const GroupedRow& g, int64_t o, int64_t count);
};
template <int kDiagonals>
MICA_INLINE GroupedTiles grouped_tiles(int64_t width) {
  constexpr int kWide = kWideGroupedTile<kDiagonals>, kNarrow = kDiagonals == 1 ? kWide : kNarrowGroupedTile;
  const int64_t count = (width + kWide - 1) / kWide;
  int64_t narrow = 0;
  if constexpr (kNarrow < kWide) narrow = (count * kWide - width) / (kWide - kNarrow);
  return {kWide, count, count - narrow, grouped_tile<kDiagonals, kWide>, grouped_tile<kDiagonals, kNarrow>};
}

// The last tile makes outputs of its neighbour once more, to the same bits.
void grouped_row(GroupedRow& g, const GroupedTiles& tiles, int64_t width) {
  int64_t o = 0;
  for (int64_t t = 0; t < tiles.count && o < width; ++t) {
    const int64_t size = t < tiles.wide_count ? tiles.wide : kNarrowGroupedTile;
    const int64_t begin = o + size <= width ? o : size <= width ? width - size : 0;
    const int64_t count = width - begin < size ? width - begin : size;
    (t < tiles.wide_count ? tiles.run_wide : tiles.run_narrow)(g, begin, count);
    o = begin + count;
    const float* fetched = g.fetch + g.fetch_floats < g.fetch_end ? g.fetch + g.fetch_floats : g.fetch_end;
    for (; g.fetch < fetched; g.fetch += kPanel) prefetch_far(g.fetch);
  }
}

// Where the outputs of one vector find the first inputs of their groups: channel `first` and so many behind it, all
// below `reach`.
struct GroupedLanes {
  int64_t first, reach;
  int32_t index[kLanes];
};
inline constexpr int64_t kMostReach = 4 * kLanes;  // beyond it lanes are gathered one by one

// Rows of one output plane and the input rows under them, for a unit of output channels.
struct GroupedBand {
  int64_t row_begin, row_end;  // through the batch
  int64_t channel, unit;
  Pixel corner;         // the input pixel under tap 0 of the first output
  int64_t rows, pixel;  // input rows from corner.y on; floats of a pixel
  int64_t blocks, versions;
  float* data;
  DepthwiseTap* taps;                   // for kernel[0] · kernel[1] rows
  int64_t* steps;                       // for kernel[2] · blocks
  GroupedLanes lanes[kPanel / kLanes];  // of one sum for each output
};

// One vector of each of a row's pixels, as it stands and with 4, 8 and 12 exchanged, a unit of channels apart.
template <int kVersions, bool kFull>
MICA_INLINE void copy_pixels(const float* in, int64_t in_pixel, float* out, const GroupedBand& band, int64_t count,
                             int lanes) {
  const int64_t unit = band.unit, pixel = band.pixel;
  for (int64_t i = 0; i < count; ++i, in += in_pixel, out += pixel) {
    const F32 x = kFull ? load(in) : load_partial(in, lanes);
    store(out, x);
    if constexpr (kVersions > 1) store(out + unit, exchange<4>(x));
    if constexpr (kVersions > 2) {
      const F32 far = exchange<8>(x);
      store(out + 2 * unit, far);
      store(out + 3 * unit, exchange<4>(far));
    }
  }
}

template <int kVersions>
void copy_row(const float* in, int64_t in_pixel, int64_t channels, float* out, const GroupedBand& band, int64_t count) {
  in += band.channel;
  for (int64_t c = 0; c < band.unit; c += kLanes) {
    const int64_t left = channels - band.channel - c;
    if (left >= kLanes)
      copy_pixels<kVersions, true>(in + c, in_pixel, out + c, band, count, kLanes);
    else
      copy_pixels<kVersions, false>(in + c, in_pixel, out + c, band, count, left > 0 ? static_cast<int>(left) : 0);
  }
}

// One vector of each of a row's pixels, picked out of those from `in` on that hold l.reach floats; `floats` may be
// read.
template <bool kFull>
MICA_INLINE void spread_pixels(const float* in, int64_t in_pixel, float* out, const GroupedBand& band,
                               const GroupedLanes& l, int64_t count, int64_t floats) {
  const I32 index = load(l.index), place = bit_and(index, set1(kLanes - 1));
  const auto read = [&](const float* p, int64_t at) __attribute__((always_inline)) {
    const int64_t left = floats - at;
    return kFull ? load(p + at) : load_partial(p + at, left < kLanes ? static_cast<int>(left) : kLanes);
  };
  for (int64_t i = 0; i < count; ++i, in += in_pixel, out += band.pixel) {
    F32 x = permute(read(in, 0), place);
    for (int64_t at = kLanes; at < l.reach; at += kLanes)
      x = select(gt(index, set1(static_cast<int32_t>(at - 1))), permute(read(in, at), place), x);
    store(out, x);
  }
}

void spread_row(const float* in, int64_t in_pixel, int64_t channels, float* out, const GroupedBand& band,
                int64_t count) {
  for (int64_t c = 0; c < band.unit; c += kLanes) {
    const GroupedLanes& l = band.lanes[c / kLanes];
    for (int64_t v = 0; v < band.versions; ++v) {
      const float* from = in + l.first + v;
      float* to = out + c + v * band.unit;
      const int64_t floats = channels - l.first - v;
      if (l.reach > kMostReach)
        for (int64_t i = 0; i < count; ++i) store(to + i * band.pixel, gather(from + i * in_pixel, load(l.index)));
      else if ((l.reach + kLanes - 1) / kLanes * kLanes <= floats)
        spread_pixels<true>(from, in_pixel, to, band, l, count, floats);
      else
        spread_pixels<false>(from, in_pixel, to, band, l, count, floats);
    }
  }
}

// Lanes beyond the last output read as the last one does.
void aim_lanes(const ConvProblem& p, GroupedBand& band) {
  const int64_t inputs = p.in_channels / p.groups, outputs = p.out_channels / p.groups, last = p.out_channels - 1;
  for (int64_t c = 0; c < kPanel; c += kLanes) {
    const int64_t begin = band.channel + c, group = (begin < last ? begin : last) / outputs;
    GroupedLanes& l = band.lanes[c / kLanes];
    l.first = group * inputs;
    l.reach = 1;
    int64_t end = (group + 1) * outputs;
    for (int lane = 0; lane < kLanes; ++lane) {
      if (begin + lane == end && end <= last) l.reach += inputs, end += outputs;
      l.index[lane] = static_cast<int32_t>(l.reach - 1);
    }
  }
}

MICA_INLINE void copy_band(const ConvArgs& args, const GroupedBand& band, bool spreads) {
  const ConvProblem& p = args.problem;
  constexpr int kTwo = kLanes > 4 ? 2 : 1, kFour = kLanes > 8 ? 4 : kTwo;
  const auto copy = spreads              ? spread_row
                    : band.versions == 1 ? copy_row<1>
                    : band.versions == 2 ? copy_row<kTwo>
                                         : copy_row<kFour>;
  const auto within = [](int64_t x, int64_t low, int64_t high) { return x < low ? low : x > high ? high : x; };
  const int64_t columns = args.choice.band_columns, begin = within(p.pad[2], 0, columns);
  const int64_t end = within(p.pad[2] + p.in[2], begin, columns);
  for (int64_t z = 0; z < p.kernel[0]; ++z)
    for (int64_t y = 0; y < band.rows; ++y) {
      const Pixel from{band.corner.image, band.corner.z + z * p.dilation[0], band.corner.y + y, 0};
      if (!inside(from.z, p.in[0]) || !inside(from.y, p.in[1])) continue;
      const float* in = args.x + at(p.in_view, from);
      float* out = band.data + (z * band.rows + y) * columns * band.pixel;
      zero_floats(out, begin * band.pixel);
      copy(in + (begin - p.pad[2]) * p.in_view.pixel, p.in_view.pixel, p.in_channels, out + begin * band.pixel, band,
           end - begin);
      zero_floats(out + end * band.pixel, (columns - end) * band.pixel);
    }
}

// The band's rows under one output row that lie inside the input, and their weights.
MICA_INLINE int64_t aim_band(const ConvArgs& args, const GroupedBand& band, int64_t row, const float* w,
                             DepthwiseTap* taps) {
  const ConvProblem& p = args.problem;
  const int64_t row_floats = p.kernel[2] * (p.in_channels / p.groups) * kPanel;
  int64_t count = 0;
  for (int64_t z = 0; z < p.kernel[0]; ++z)
    for (int64_t y = 0; y < p.kernel[1]; ++y, w += row_floats) {
      const int64_t line = (row - band.row_begin) * p.stride[1] + y * p.dilation[1];
      if (!inside(band.corner.z + z * p.dilation[0], p.in[0]) || !inside(band.corner.y + line, p.in[1])) continue;
      taps[count++] = {band.data + (z * band.rows + line) * args.choice.band_columns * band.pixel, w};
    }
  return count;
}

void run_grouped_unit(const ConvArgs& args, const GroupedTiles& tiles, const GroupedBand& band, const Pixel& first) {
  const ConvProblem& p = args.problem;
  const GemmEpilogue& e = args.epilogue;
  const int64_t width = p.in_channels / p.groups, depth = p.kernel[0] * p.kernel[1] * p.kernel[2] * width;
  const int64_t blocks = band.blocks, versions = band.versions;  // more blocks are vectors of their own
  GroupedRow g{.taps = band.taps,
               .steps = p.kernel[2] * blocks,
               .pixel_step = p.stride[2] * band.pixel,
               .step = band.steps,
               .out_pixel = p.out_view.pixel,
               .finish = LaneFinish(e)};
  // Each vector of channels fetches its share of the next unit's weights, where there are any.
  const int64_t unit_floats = band.unit * depth, next = (band.channel / band.unit + 1) * unit_floats;
  const int64_t all_floats = panel_count(p.out_channels) * depth * kPanel;
  const int64_t pieces = (band.row_end - band.row_begin) * ((p.out[2] + kNarrowGroupedTile - 1) / kNarrowGroupedTile) *
                         (band.unit / kLanes);
  g.fetch = args.w + (next < all_floats ? next : all_floats);
  g.fetch_end = args.w + (next + unit_floats < all_floats ? next + unit_floats : all_floats);
  g.fetch_floats = (unit_floats / pieces / kPanel + 1) * kPanel;
  for (int64_t c = 0; c < band.unit && band.channel + c < p.out_channels; c += kLanes) {
    const int64_t channel = band.channel + c, left = p.out_channels - channel;
    const float* w = args.w + channel / kPanel * depth * kPanel + channel % kPanel;
    for (int64_t s = 0; s < g.steps; ++s) {
      const int64_t tap = s / blocks, b = s % blocks;
      band.steps[s] = tap * p.dilation[2] * band.pixel + b % versions * band.unit + (c ^ b / versions * kLanes);
    }
    g.lanes = left < kLanes ? static_cast<int>(left) : kLanes;
    g.bias = e.bias ? e.bias + channel : nullptr;
    Pixel o = first;
    for (int64_t row = band.row_begin; row < band.row_end; ++row, ++o.y) {
      g.tap_count = aim_band(args, band, row, w, band.taps);
      g.out = args.y + at(p.out_view, o) + channel;
      grouped_row(g, tiles, p.out[2]);
    }
  }
}

// Rows [row_begin, row_end) of one output plane.
void grouped_band(const ConvArgs& args, DepthwiseRange range, float* scratch) {
  const ConvProblem& p = args.problem;
  const GemmEpilogue& e = args.epilogue;
  const GroupedLayout layout = grouped_layout(p);
  const bool spreads = layout.diagonals == 1;
  const GroupedTiles tiles = spreads                 ? grouped_tiles<1>(p.out[2])
                             : layout.diagonals == 2 ? grouped_tiles<2>(p.out[2])
                                                     : grouped_tiles<4>(p.out[2]);
  const bool later = !LaneFinish::suffices(e);
  const int64_t plane = range.row_begin / p.out[1];
  const Pixel first{plane / p.out[0], plane % p.out[0], range.row_begin % p.out[1], 0};
  GroupedBand band{.row_begin = range.row_begin,
                   .row_end = range.row_end,
                   .unit = layout.unit,
                   .corner = corner_of(p, first),
                   .rows = (range.row_end - range.row_begin - 1) * p.stride[1] + (p.kernel[1] - 1) * p.dilation[1] + 1,
                   .pixel = layout.unit * layout.versions,
                   .blocks = layout.blocks,
                   .versions = !spreads && layout.versions > kLanes / 4 ? kLanes / 4 : layout.versions,
                   .data = scratch + layout.band,
                   .taps = reinterpret_cast<DepthwiseTap*>(scratch),
                   .steps = reinterpret_cast<int64_t*>(scratch + layout.steps)};
  const int64_t channel_end = range.channel_end;
  for (int64_t channel = range.channel_begin; channel < channel_end; channel += band.unit) {
    band.channel = channel;
    if (spreads) aim_lanes(p, band);
    copy_band(args, band, spreads);
    run_grouped_unit(args, tiles, band, first);
    range.channel_begin = channel;
    range.channel_end = channel + band.unit < channel_end ? channel + band.unit : channel_end;
    Pixel o = first;
    for (int64_t row = range.row_begin; row < range.row_end && (later || e.finish || args.row_means); ++row, ++o.y) {
      if (later || e.finish) depthwise_finish(args, range, row, o, later);
      if (kWithRowMeans && args.row_means) store_row_means(args, range, row, o);
    }
  }
}

void run_grouped_task(const ConvArgs& args, int64_t task, float* scratch) {
  const ConvProblem& p = args.problem;
  const ConvChoice& c = args.choice;
  const auto least = [](int64_t a, int64_t b) { return a < b ? a : b; };
  const int64_t all_rows = p.images * p.out[0] * p.out[1], row_tasks = (all_rows + c.row_block - 1) / c.row_block;
  const int64_t begin = task % row_tasks * c.row_block, end = least(begin + c.row_block, all_rows);
  const int64_t channel = task / row_tasks * c.channel_block;
  for (int64_t row = begin; row < end;) {
    const int64_t plane_end = (row / p.out[1] + 1) * p.out[1], next = least(least(row + c.band_rows, plane_end), end);
    grouped_band(args, {row, next, channel, least(channel + c.channel_block, p.out_channels)}, scratch);
    row = next;
  }
}

}  // namespace mica::MICA_ISA
