// Convolution of a picture of few channels: each step of k reads its own place under the first pixel of a tile, nothing
// is turned or gathered. Included by conv.isa.cc.
//
// The rows under a few output lines are copied first, with zeros around them: no tile leaves them, and they stay in the
// first-level cache. Those of the next lines are fetched meanwhile, tile by tile, for the picture was last read a run
// ago.
//
// The steps of k are in the order of the packed weights, as everywhere in kImplicit: the bits are the same.
#pragma once
#include "kernels/conv/implicit.inl"
#include "kernels/conv/picture_band.h"
#include "kernels/conv/pixels.inl"
#include "kernels/gemm/activation.inl"

namespace mica::MICA_ISA {

inline constexpr int kPlaneVectors = kPanel / kLanes;
// Sums, a row of weights and a value fill the registers: rows of one panel, and of two where a panel is a vector.
inline constexpr int kPlaneRows = kLanes == kPanel ? 28 : (kRegisters - kPlaneVectors - 1) / kPlaneVectors;
inline constexpr int kPlanePairs = kLanes == kPanel ? 2 : 1;
// Of half a panel, where that is one vector: twice as many rows. Vectors of four are for small machines, whose runtime
// would grow more than it is worth.
inline constexpr int kHalfPlaneRows = kPlaneVectors == 2 ? 2 * kPlaneRows : 0;
static_assert(kPlaneRows <= kMostPlaneRows && kHalfPlaneRows <= kMostPlaneRows);

// What the next lines read of the picture: `floats` of each of its runs, `run` floats apart. Each tile asks for a share
// of it, high ones for a line with each step of k: few can be on their way at a time, and what asks for more waits.
struct PictureFetch {
  const float* at;
  int64_t floats, runs, run;
};
struct FetchShare {
  // Of the tile at pixel `x` of so many.
  MICA_INLINE FetchShare(const PictureFetch& f, int64_t x, int64_t rows, int64_t pixels) {
    const int64_t tiles = (pixels + rows - 1) / rows, lines = (f.floats + kPanel - 1) / kPanel;
    size = (lines + tiles - 1) / tiles * kPanel;  // 0 where nothing is fetched: `at` is null then
    at = f.at + (x + rows - 1) / rows * size;     // the last tile may begin earlier
    end = at + size;
    left = size / kPanel * f.runs;
    apart = f.run - size;
  }
  MICA_INLINE void next() {
    if (left == 0) return;
    --left;
    prefetch(at);
    at += kPanel;
    if (at != end) return;
    at += apart;
    end = at + size;
  }

  const float *at, *end;
  int64_t size, left, apart;
};
__attribute__((noinline)) void fetch_all(FetchShare share) {
  while (share.left > 0) share.next();
}

// Pixels of one output line by a few columns.
struct PlaneLine {
  const float* base;       // the input under the first pixel's tap 0
  const int64_t* offsets;  // of each step of k from there
  int64_t depth, step;     // steps of k; floats from pixel to pixel
  const float* w;
  int64_t panel_stride;
  const float* bias;  // or null
  float* out;
  int64_t out_pixel, columns, pixels;
  bool again;  // may_store_twice
  LaneFinish finish;
  PictureFetch fetch;
};

// Where the tile of so many pixels behind the one at `x` begins, if it does before t.pixels.
MICA_INLINE int64_t next_tile(const PlaneLine& t, int64_t x, int rows) {
  x += rows;
  return t.again && x < t.pixels && t.pixels - x < rows ? t.pixels - rows : x;
}

// All tiles of kRows pixels of a line. kStep: floats from pixel to pixel, or 0 for any number. There is at least one
// step of k; in the last one each row is finished and stored between the multiply-adds, and the next tile's begins
// (gemm/plain.inl has why).
template <int kRows, int kVectors, int kStep>
__attribute__((noinline)) void plane_tiles(const PlaneLine& t) {
  constexpr bool kSpread = kRows > 12;  // lower tiles have a few lines, and steps in which each instruction counts
  const bool full = kLanes < kPanel && t.columns >= kVectors * kLanes;  // where masks cost something
  alignas(64) float bias[kVectors * kLanes];
  int lanes[kVectors];
  MICA_UNROLL for (int j = 0; j < kVectors; ++j) {
    lanes[j] = width_of(t.columns, j);
    store(bias + j * kLanes, t.bias ? load_partial(t.bias + j * kLanes, lanes[j]) : zero());
  }
  const auto load_row = [&](const float* w, F32(&row)[kVectors]) __attribute__((always_inline)) {
    MICA_UNROLL for (int j = 0; j < kVectors; ++j) row[j] =
        load(w + j / kPlaneVectors * t.panel_stride + j % kPlaneVectors * kLanes);
  };
  const LaneFinish finish = t.finish;
  const int64_t step = kStep ? kStep : t.step, out_pixel = t.out_pixel;
  const int64_t* const last = t.offsets + t.depth - 1;
  F32 sum[kRows][kVectors], row[kVectors];
  MICA_UNROLL for (int i = 0; i < kRows; ++i) MICA_UNROLL for (int j = 0; j < kVectors; ++j) sum[i][j] =
      load(bias + j * kLanes);
  for (int64_t at = 0; at < t.pixels; at = next_tile(t, at, kRows)) {
    const float *w = t.w, *base = t.base + at * step;
    FetchShare fetch(t.fetch, at, kRows, t.pixels);
    if constexpr (!kSpread) fetch_all(fetch);
    for (const int64_t* offset = t.offsets; offset < last; ++offset, w += kPanel) {
      const float* x = base + *offset;
      if constexpr (kSpread) fetch.next();
      load_row(w, row);
      MICA_UNROLL for (int i = 0; i < kRows; ++i) {
        const F32 value = set1(x[i * step]);
        MICA_UNROLL for (int j = 0; j < kVectors; ++j) sum[i][j] = fma(value, row[j], sum[i][j]);
      }
    }
    const float* x = base + *last;
    load_row(w, row);
    float* out = t.out + at * out_pixel;
    const int64_t count = t.pixels - at;
    MICA_UNROLL for (int i = 0; i < kRows; ++i) {
      if (i >= count) return;
      const F32 value = set1(x[i * step]);
      MICA_UNROLL for (int j = 0; j < kVectors; ++j) {
        const F32 y = finish(fma(value, row[j], sum[i][j]));
        if (full)
          store(out + j * kLanes, y);
        else
          store_partial(out + j * kLanes, y, lanes[j]);
      }
      out += out_pixel;
      asm volatile("" : "+r"(out) : : "memory");  // keeps rows apart, and the bias in memory
      MICA_UNROLL for (int j = 0; j < kVectors; ++j) sum[i][j] = load(bias + j * kLanes);
    }
  }
}

// Two panels of which the last has at most half of its columns, where units are half as wide as vectors: half vectors
// alone, of half as many rows at a time.
template <int kRows, int kPanels, int kStep>
__attribute__((noinline)) void plane_tiles_of_halves(const PlaneLine& t) {
  constexpr int kPart = kRows / 2, kHalf = kLanes / 2, kHalves = 2 * kPanels - 1;
  static_assert(kRows % 2 == 0 && kPanels == 2);
  const int last_columns = static_cast<int>(t.columns - kLanes);
  const F32 bias[] = {t.bias ? load(t.bias) : zero(), t.bias ? load_partial(t.bias + kLanes, last_columns) : zero()};
  const int64_t step = kStep ? kStep : t.step;
  for (int64_t at = 0; at < t.pixels; at = next_tile(t, at, kPart)) {
    HalfF32 sum[kPart][kHalves];
    MICA_UNROLL for (int i = 0; i < kPart; ++i) MICA_UNROLL for (int h = 0; h < kHalves; ++h) sum[i][h] =
        h % 2 ? upper(bias[h / 2]) : lower(bias[h / 2]);
    const float *w = t.w, *base = t.base + at * step;
    FetchShare fetch(t.fetch, at, kPart, t.pixels);
    for (const int64_t *offset = t.offsets, *end = offset + t.depth; offset < end; ++offset, w += kPanel) {
      const float* x = base + *offset;
      fetch.next();
      HalfF32 row[kHalves];
      MICA_UNROLL for (int h = 0; h < kHalves; ++h) row[h] = load_half(w + h / 2 * t.panel_stride + h % 2 * kHalf);
      MICA_UNROLL for (int i = 0; i < kPart; ++i) {
        const HalfF32 value = set1_half(x[i * step]);
        MICA_UNROLL for (int h = 0; h < kHalves; ++h) sum[i][h] = fma(value, row[h], sum[i][h]);
      }
    }
    float* out = t.out + at * t.out_pixel;
    MICA_UNROLL for (int i = 0; i < kPart; ++i) {
      if (at + i >= t.pixels) return;
      store(out, t.finish(join(sum[i][0], sum[i][1])));
      store_partial(out + kLanes, t.finish(join(sum[i][2], sum[i][2])), last_columns);
      out += t.out_pixel;
    }
  }
}

// Tiles, and those for half of a panel less; null where there are no such tiles.
using PlaneTilesFn = void (*)(const PlaneLine&);
struct PlaneTiles {
  PlaneTilesFn whole = nullptr, halves = nullptr;
};
template <int kRows, int kPanels, int kStep>
MICA_INLINE PlaneTiles plane_tiles_of() {
  PlaneTiles tiles;
  if constexpr (kWithPlanes[kStep]) {
    tiles.whole = plane_tiles<kRows, kPanels * kPlaneVectors, kStep>;
    if constexpr (kWithPlaneHalves && kLanes == kPanel && kPanels == 2)
      tiles.halves = plane_tiles_of_halves<kRows, kPanels, kStep>;
    if constexpr (kWithPlaneHalves && kHalfPlaneRows > 0 && kStep > 0)
      tiles.halves = plane_tiles<kHalfPlaneRows, kPlaneVectors / 2, kStep>;
  }
  return tiles;
}
template <int kRows, int kPanels>
MICA_INLINE PlaneTiles plane_tiles_of(int64_t step) {
  return step == 1   ? plane_tiles_of<kRows, kPanels, 1>()
         : step == 2 ? plane_tiles_of<kRows, kPanels, 2>()
                     : plane_tiles_of<kRows, kPanels, 0>();
}

// What is stored twice must be the same both times: a line's last tile may then begin before the one in front of it
// ends, and computes nothing that lies behind the line.
MICA_INLINE bool may_store_twice(const ConvArgs& args) {
  return LaneFinish::suffices(args.epilogue) && !args.epilogue.finish;
}

// What tiles of so many rows compute of a line, the pixels behind its end included.
MICA_INLINE int64_t line_pixels(const ConvArgs& args, int64_t rows) {
  const int64_t out = args.problem.out[2];
  return may_store_twice(args) && out >= rows ? out : (out + rows - 1) / rows * rows;
}

// A row of the picture, which may lie outside of it.
__attribute__((noinline)) void fill_row(const ConvArgs& args, const PictureBand& b, Pixel from, float* out) {
  const ConvProblem& p = args.problem;
  const ConvView& v = p.in_view;
  const bool there = inside(from.z, p.in[0]) && inside(from.y, p.in[1]) && b.begin < b.end;
  const int64_t begin = there ? b.begin : 0, end = there ? b.end : 0, count = (end - begin) * b.unit;
  from.x = begin - p.pad[2];
  for (int64_t run = 0, place = at(v, from); run < b.runs; ++run, place += v.channel, out += b.run) {
    zero_floats(out, begin * b.unit);
    float* to = out + begin * b.unit;
    if (has_pixels(p))
      convert_run(args.pixels + place, b.unit > 1 ? 1 : v.pixel, p.pixels,
                  {b.scale + run * kLanes, b.shift + run * kLanes, b.unit * kLanes}, count, to);
    else
      copy_floats(args.x + place, to, count);
    zero_floats(to + count, (b.columns - end) * b.unit);
  }
}

PlaneTiles plane_tiles_of(int64_t panels, int64_t step, bool half_units) {
  PlaneTiles tiles = plane_tiles_of<kPlaneRows, 1>(step);
  if constexpr (kPlanePairs == 2)
    if (panels == 2) tiles = plane_tiles_of<kPlaneRows / 2, 2>(step);
  if (kLanes == kPanel && !half_units) tiles.halves = nullptr;
  return tiles;
}

// What a task's lines share: two panels of columns at a time, up to `paired`.
struct PlaneTask {
  const ConvArgs& args;
  PictureBand band;
  int64_t paired;
};

// Columns of a line, so many panels of them at a time.
struct PlaneColumns {
  int64_t panels, begin, end;
};

// One output line from `o` on. `in`: what lies under its first pixel. `fetch` is done behind the first columns.
__attribute__((noinline)) void plane_line(const PlaneTask& task, const float* in, const Pixel& o,
                                          const PlaneColumns& columns, PictureFetch& fetch) {
  const ConvArgs& args = task.args;
  const PictureBand& b = task.band;
  const ConvProblem& p = args.problem;
  const GemmEpilogue& e = args.epilogue;
  const int64_t panels = columns.panels, width = panels * kPanel;
  const int64_t depth = p.kernel[0] * p.kernel[1] * p.kernel[2] * p.in_channels;
  PlaneLine t{.base = in,
              .offsets = b.offsets,
              .depth = depth,
              .step = p.stride[2] * b.unit,
              .panel_stride = depth * kPanel,
              .out_pixel = p.out_view.pixel,
              .pixels = p.out[2],
              .finish = LaneFinish(e)};
  const PlaneTiles tiles = plane_tiles_of(panels, t.step, args.choice.half_units);
  for (int64_t column = columns.begin; column < columns.end; column += width) {
    t.w = args.w + column * depth;
    t.bias = e.bias ? e.bias + column : nullptr;
    t.columns = columns.end - column < width ? columns.end - column : width;
    t.out = args.y + at(p.out_view, o) + column;
    const bool half = tiles.halves && width - t.columns >= kPanel / 2;
    t.again = may_store_twice(args) && p.out[2] >= (half && kHalfPlaneRows > 0 ? kHalfPlaneRows : kPlaneRows / panels);
    t.fetch = fetch;
    (half ? tiles.halves : tiles.whole)(t);
    fetch.runs = 0;
    if (!LaneFinish::suffices(e)) {
      const float* residual = e.residual ? e.residual + at(p.residual_view, o) + column : nullptr;
      kActivateRows[static_cast<int>(e.activation)]({t.out, t.out_pixel, t.out, t.out_pixel, residual,
                                                     p.residual_view.pixel, e.residual_last, t.pixels, t.columns, e.a,
                                                     e.b});
    }
    if (!e.finish) continue;
    const int64_t line = (o.image * p.out[0] + o.z) * p.out[1] + o.y;
    e.finish(e.finish_context, t.out, t.out_pixel, line * p.out[2], column, t.pixels, t.columns);
  }
}

// Rows that the next lines read, too, go to the band's front: `step` rows down. Returns how many there are.
MICA_INLINE int64_t keep_rows(const ConvProblem& p, const PictureBand& b, int64_t step, int64_t height,
                              int64_t wanted) {
  const int64_t shared = height - step < wanted ? height - step : wanted;
  for (int64_t z = 0; z < p.kernel[0]; ++z) {
    float* to = b.rows + z * b.depth;
    for (int64_t y = 0; y < shared; ++y, to += b.row)
      copy_floats(to + step * b.row, to, (b.runs - 1) * b.run + b.columns * b.unit);
  }
  return shared > 0 ? shared : 0;
}

// The lines of a task, as many at a time as the band has room for, each time with their input's rows in it.
using PlaneLinesFn = void (*)(const void* context, const Pixel& first, int64_t lines);
__attribute__((noinline)) void over_plane_bands(const ConvArgs& args, const PictureBand& b, int64_t task,
                                                PlaneLinesFn f, const void* context) {
  const ConvProblem& p = args.problem;
  const ConvChoice& c = args.choice;
  const int64_t lines = p.images * p.out[0] * p.out[1], begin = task * c.tile_block;
  const int64_t end = begin + c.tile_block < lines ? begin + c.tile_block : lines;
  const int64_t plane = begin / p.out[1];
  Pixel o{plane / p.out[0], plane % p.out[0], begin % p.out[1], 0};
  int64_t filled = 0, passed = 0;  // rows of the band, and those that no line reads any more
  for (int64_t line = begin; line < end;) {
    const int64_t left = p.out[1] - o.y < end - line ? p.out[1] - o.y : end - line;
    const int64_t count = left < c.band_rows ? left : c.band_rows;
    const Pixel corner = corner_of(p, o);
    const int64_t height = band_height(p, count), step = count * p.stride[1];
    const int64_t kept = keep_rows(p, b, passed, filled, height);
    for (int64_t z = 0; z < p.kernel[0]; ++z)
      for (int64_t y = kept; y < height; ++y)
        fill_row(args, b, {o.image, corner.z + z * p.dilation[0], corner.y + y, 0}, b.rows + z * b.depth + y * b.row);
    f(context, o, count);
    line += count;
    o.y += count;
    filled = height;
    passed = step;
    if (o.y < p.out[1]) continue;
    filled = 0;
    o.y = 0;
    if (++o.z < p.out[0]) continue;
    o.z = 0;
    ++o.image;
  }
}

// The rows that the line so many below `o` reads, and none above it. Of several depths the last one's: the others were
// read for the lines of the plane before.
PictureFetch fetch_below(const PlaneTask& task, Pixel o, int64_t lines) {
  const ConvProblem& p = task.args.problem;
  o.y += lines;
  const Pixel corner = corner_of(p, o);
  const int64_t z = corner.z + (p.kernel[0] - 1) * p.dilation[0], end = corner.y + band_height(p, 1);
  const int64_t last = end < p.in[1] ? end : p.in[1],
                first = corner.y > end - p.stride[1] ? corner.y : end - p.stride[1];
  if (has_pixels(p) || !inside(z, p.in[0]) || first < 0 || first >= last) return {};
  return {.at = task.args.x + at(p.in_view, {o.image, z, first, 0}),
          .floats = (last - first) * p.in_view.row,
          .runs = task.band.runs,
          .run = p.in_view.channel};
}

void plane_lines(const void* context, const Pixel& first, int64_t lines) {
  const PlaneTask& task = *static_cast<const PlaneTask*>(context);
  const ConvProblem& p = task.args.problem;
  Pixel o = first;
  for (int64_t i = 0; i < lines; ++i, ++o.y) {
    const float* in = task.band.rows + i * p.stride[1] * task.band.row;
    PictureFetch fetch = fetch_below(task, o, lines);
    if (task.paired > 0) plane_line(task, in, o, {2, 0, task.paired}, fetch);
    if (task.paired < p.out_channels) plane_line(task, in, o, {1, task.paired, p.out_channels}, fetch);
  }
}

void run_plane_task(const ConvArgs& args, int64_t task, float* scratch) {
  const ConvProblem& p = args.problem;
  // Two panels at a time where there are as many; the last one alone takes tiles of twice as many rows.
  const int64_t channels = p.out_channels, panels = panel_count(channels);
  const int64_t paired = kPlanePairs == 1 ? 0 : panels % 2 ? (panels - 1) * kPanel : channels;
  // Of the highest tiles, which read furthest.
  const int64_t rows = kHalfPlaneRows > 0 ? kHalfPlaneRows : paired < channels ? kPlaneRows : kPlaneRows / 2;
  const PlaneTask all{args, picture_band(args, line_pixels(args, rows), kLanes, scratch), paired};
  over_plane_bands(args, all.band, task, plane_lines, &all);
}

// A run of n pixels of kChannels planes (0: `channels`), pixel by pixel.
template <int kChannels>
MICA_INLINE void weave(const float* from, int64_t apart, int64_t channels, int64_t n, float* __restrict to) {
  const int64_t count = kChannels ? kChannels : channels;
  for (int64_t x = 0; x < n; ++x)
    for (int64_t channel = 0; channel < count; ++channel) to[x * count + channel] = from[channel * apart + x];
}

// The rows of the product of `count` pixels of a line, from `o` on. The picture's rows pass one after the other.
MICA_INLINE void gather_line(const ConvArgs& args, const Pixel& o, int64_t count, float* rows) {
  const ConvProblem& p = args.problem;
  const ConvView& v = p.in_view;
  const int64_t n = p.kernel[2], run = n * p.in_channels;
  const Pixel corner = corner_of(p, o);
  for (int64_t z = 0; z < p.kernel[0]; ++z)
    for (int64_t y = 0; y < p.kernel[1]; ++y, rows += run) {
      const Pixel first{corner.image, corner.z + z * p.dilation[0], corner.y + y * p.dilation[1], corner.x};
      const float* from = args.x + at(v, first);
      for (int64_t i = 0; i < count; ++i, from += p.stride[2]) {
        float* row = rows + i * args.choice.row_pitch;
        if (p.in_channels == 3)
          weave<3>(from, v.channel, 3, n, row);
        else if (p.in_channels == 1)
          copy_floats(from, row, n);
        else
          weave<0>(from, v.channel, p.in_channels, n, row);
      }
    }
}

// Pixels of a task of choice.gathered: their rows of the product. All that they read lies inside the picture.
void gather_plane_task(const ConvArgs& args, int64_t task, float* rows, float*) {
  const ConvProblem& p = args.problem;
  const int64_t pixels = p.images * p.out[0] * p.out[1] * p.out[2], begin = task * args.choice.tile_block;
  const int64_t end = begin + args.choice.tile_block < pixels ? begin + args.choice.tile_block : pixels;
  for (int64_t i = begin; i < end;) {
    const int64_t x = i % p.out[2], line = i / p.out[2], plane = line / p.out[1];
    const int64_t count = p.out[2] - x < end - i ? p.out[2] - x : end - i;
    gather_line(args, {plane / p.out[0], plane % p.out[0], line % p.out[1], x}, count,
                rows + i * args.choice.row_pitch);
    i += count;
  }
}

}  // namespace mica::MICA_ISA
