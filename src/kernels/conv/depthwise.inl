// Depthwise convolution: one filter for each channel, vectors over channels. Included by conv.isa.cc.
#pragma once
#include "kernels/conv/implicit.inl"
#include "kernels/gemm/activation.inl"

namespace mica::MICA_ISA {

// An input row under one of the kernel's rows: rows outside the input are left out, but of 3x3.
struct DepthwiseTap {
  const float* in;  // at input pixel 0, channel 0; null: a row outside
  const float* w;   // the row's first tap, in the first panel
};

// One output row of kLanes (or `lanes`) channels from `channel` on, or two rows. Two rows share the taps of both: their
// weights are the first row's, the second row's lie one kernel row before.
struct DepthwiseRow {
  const DepthwiseTap* taps;
  int64_t tap_count;
  int64_t panel_stride;  // floats from a panel's weights to the next one's; taps are kPanel apart
  int64_t channel;
  const float* bias;  // or null
  float* out;
  int64_t out_pixel;
  int64_t out_row;               // to the second row
  bool first_alone, last_alone;  // of two rows: the first tap is the first row's only, the last the second row's
  int lanes;
  LaneFinish finish;

  // Where the weights of channel + `more` stand in a row's.
  MICA_INLINE int64_t weights_at(int64_t more = 0) const {
    return (channel + more) / kPanel * panel_stride + (channel + more) % kPanel;
  }
};

template <bool kFull>
MICA_INLINE F32 load_lanes(const float* p, int lanes) {
  return kFull ? load(p) : load_partial(p, lanes);
}
template <bool kFull>
MICA_INLINE void store_lanes(float* p, F32 v, int lanes) {
  if (kFull)
    store(p, v);
  else
    store_partial(p, v, lanes);
}

// kPixels outputs from output `o` on, of a kernel kWidth wide with stride kStride, in each of kRows rows. Each input
// column of a row is read once and goes into every output that it touches; the sums are independent chains, as many as
// the latency of a multiply-add wants. Only the outer columns, half of the kernel on each side, may lie outside the
// input.
template <int kWidth, int kStride, int kPixels, bool kFull, int kRows>
MICA_INLINE void depthwise_tile(const ConvProblem& p, const DepthwiseRow& d, int64_t o) {
  F32 sum[kRows][kPixels];
  const F32 bias = d.bias ? load_lanes<kFull>(d.bias, d.lanes) : zero();
  MICA_UNROLL for (int row = 0; row < kRows; ++row) MICA_UNROLL for (int i = 0; i < kPixels; ++i) sum[row][i] = bias;
  const int64_t x = o * kStride - p.pad[2], pixel = p.in_view.pixel, width = p.in[2];
  constexpr int64_t kAbove = kWidth * kPanel;  // from a kernel row's weights to those before
  const auto add_tap = [&](int64_t r, bool first, bool second) __attribute__((always_inline)) {
    const float* in = d.taps[r].in + d.channel + x * pixel;
    const float* w = d.taps[r].w + d.weights_at();
    constexpr int kColumns = (kPixels - 1) * kStride + kWidth;
    F32 value[kColumns];
    MICA_UNROLL for (int j = 0; j < kColumns; ++j) {
      const bool outer = j < kWidth / 2 || j >= kColumns - kWidth / 2;
      value[j] = !outer || inside(x + j, width) ? load_lanes<kFull>(in + j * pixel, d.lanes) : zero();
    }
    MICA_UNROLL for (int t = 0; t < kWidth; ++t) MICA_UNROLL for (int row = 0; row < kRows; ++row) {
      if (row == 0 ? !first : !second) continue;
      const F32 weight = load(w + t * kPanel - row * kAbove);
      MICA_UNROLL for (int i = 0; i < kPixels; ++i) sum[row][i] = fma(value[i * kStride + t], weight, sum[row][i]);
    }
  };
  int64_t r = 0;
  if (kRows == 2 && d.first_alone) add_tap(r++, true, false);
  for (const int64_t end = d.tap_count - (kRows == 2 && d.last_alone); r < end; ++r) add_tap(r, true, true);
  if (kRows == 2 && d.last_alone) add_tap(r, false, true);
  const LaneFinish finish = d.finish;  // a copy: what is stored might alias it
  float* out = d.out + o * d.out_pixel;
  MICA_UNROLL for (int row = 0; row < kRows; ++row) MICA_UNROLL for (int i = 0; i < kPixels; ++i)
      store_lanes<kFull>(out + row * d.out_row + i * d.out_pixel, finish(sum[row][i]), d.lanes);
}

// The input rows of one or more output rows under a kernel of three, walked column by column. Of more than one output
// row, only the first and the last input row may lie outside: these read zeros, whose pointers stand still.
template <int kRows, bool kFull>
struct DepthwiseColumns {
  MICA_INLINE DepthwiseColumns(const ConvProblem& p, const DepthwiseRow& d, const float* zeros)
      : x(-p.pad[2]), width(p.in[2]), lanes(d.lanes) {
    const int64_t pixel = p.in_view.pixel;
    const auto step_of = [&](int i) { return d.taps[i].in ? pixel : 0; };
    first = step_of(0);
    middle = step_of(1);
    last = step_of(kRows - 1);
    MICA_UNROLL for (int i = 0; i < kRows; ++i) at[i] = d.taps[i].in ? d.taps[i].in + d.channel + x * pixel : zeros;
  }

  // Vector k of the column `ahead` columns further on.
  MICA_INLINE void read(int ahead, int k, F32 (&v)[kRows]) const {
    const bool reads = inside(x + ahead, width);
    MICA_UNROLL for (int i = 0; i < kRows; ++i) v[i] =
        reads ? load_lanes<kFull>(at[i] + ahead * step(i) + k * kLanes, lanes) : zero();
  }
  MICA_INLINE void advance(int columns) {
    x += columns;
    MICA_UNROLL for (int i = 0; i < kRows; ++i) at[i] += columns * step(i);
  }

 private:
  MICA_INLINE int64_t step(int i) const { return i == 0 ? first : i == kRows - 1 ? last : middle; }

  const float* at[kRows];
  int64_t first, middle, last;  // from column to column
  int64_t x, width;
  int lanes;
};

// Three rows 3 wide, with the nine weights of kVectors vectors of channels in registers. Stride 1: each new input
// column of three pixels is read once and goes into the three outputs that it touches. Stride 2: neighbours share one
// column. Every sum runs over the columns from left to right. kRows: output rows, which read their input rows once.
template <int kStride, bool kFull, int kVectors, int kRows = 1>
MICA_INLINE void depthwise_3x3_rows(const ConvProblem& p, const DepthwiseRow& d) {
  constexpr int kIn = (kRows - 1) * kStride + 3;
  F32 w[kVectors][9];
  MICA_UNROLL for (int k = 0; k < kVectors; ++k) MICA_UNROLL for (int t = 0; t < 9; ++t) w[k][t] =
      load(d.taps[t / 3].w + d.weights_at(k * kLanes) + t % 3 * kPanel);
  alignas(64) float zeros[kVectors * kLanes] = {};
  const float* const bias_at = d.bias ? d.bias : zeros;
  const auto bias = [&](int k) __attribute__((always_inline)) {
    return load_lanes<kFull>(bias_at + k * kLanes, d.lanes);
  };
  // Copies: what is stored might alias them.
  const LaneFinish finish = d.finish;
  float* out = d.out;
  const int64_t out_pixel = d.out_pixel, out_row = d.out_row;
  using Column = F32[kIn];
  const auto tap = [&](F32 sum, const Column& v, int row, int k, int t) __attribute__((always_inline)) {
    const int i = row * kStride;
    return fma(v[i + 2], w[k][6 + t], fma(v[i + 1], w[k][3 + t], fma(v[i], w[k][t], sum)));
  };
  const auto put = [&](int row, int k, F32 sum) __attribute__((always_inline)) {
    store_lanes<kFull>(out + row * out_row + k * kLanes, finish(sum), d.lanes);
  };
  DepthwiseColumns<kIn, kFull> columns(p, d, zeros);
  Column v;
  F32 a[kVectors][kRows], b[kVectors][kRows];
  MICA_UNROLL for (int k = 0; k < kVectors; ++k) {
    columns.read(0, k, v);
    MICA_UNROLL for (int i = 0; i < kRows; ++i) a[k][i] = tap(bias(k), v, i, k, 0);
    if (kStride == 2) continue;
    columns.read(1, k, v);
    MICA_UNROLL for (int i = 0; i < kRows; ++i) {
      a[k][i] = tap(a[k][i], v, i, k, 1);
      b[k][i] = tap(bias(k), v, i, k, 0);
    }
  }
  columns.advance(kStride == 1 ? 2 : 1);
  for (int64_t left = p.out[2]; left > 0; --left, out += out_pixel) {
    MICA_UNROLL for (int k = 0; k < kVectors; ++k) {
      columns.read(0, k, v);
      if (kStride == 2) {
        MICA_UNROLL for (int i = 0; i < kRows; ++i) a[k][i] = tap(a[k][i], v, i, k, 1);
        columns.read(1, k, v);
      }
      MICA_UNROLL for (int i = 0; i < kRows; ++i) {
        put(i, k, tap(a[k][i], v, i, k, 2));
        if (kStride == 1) a[k][i] = tap(b[k][i], v, i, k, 1);
        (kStride == 1 ? b : a)[k][i] = tap(bias(k), v, i, k, 0);
      }
    }
    columns.advance(kStride);
  }
}

// Outputs that pass along a kernel row together, on any instruction set.
inline constexpr int kWindowPixels = 7;
inline constexpr bool kWithWindows = has_part("depthwise", "windows");

// Any kernel: outputs [o, o + count), at most kPixels, share each weight. kInside: all that they read lies inside.
template <int kPixels, bool kFull, bool kInside>
MICA_INLINE void depthwise_pixels(const ConvProblem& p, const DepthwiseRow& d, int64_t o, int64_t count) {
  F32 sum[kPixels];
  const F32 bias = d.bias ? load_lanes<kFull>(d.bias, d.lanes) : zero();
  MICA_UNROLL for (int i = 0; i < kPixels; ++i) sum[i] = bias;
  const int64_t pixel = p.in_view.pixel, stride = p.stride[2], dilation = p.dilation[2];
  for (int64_t r = 0; r < d.tap_count; ++r) {
    if (!d.taps[r].in) continue;
    int64_t x = o * stride - p.pad[2];
    const float* in = d.taps[r].in + d.channel + x * pixel;
    const float* w = d.taps[r].w + d.weights_at();
    for (int64_t t = 0; t < p.kernel[2]; ++t, x += dilation, in += dilation * pixel, w += kPanel) {
      const F32 weight = load(w);
      MICA_UNROLL for (int i = 0; i < kPixels; ++i) {
        const bool reads = kInside || inside(x + i * stride, p.in[2]);
        sum[i] = fma(reads ? load_lanes<kFull>(in + i * stride * pixel, d.lanes) : zero(), weight, sum[i]);
      }
    }
  }
  const LaneFinish finish = d.finish;  // a copy: what is stored might alias it
  MICA_UNROLL for (int i = 0; i < kPixels; ++i) if (i < count)
      store_lanes<kFull>(d.out + (o + i) * d.out_pixel, finish(sum[i]), d.lanes);
}

// Any kernel with stride 1: outputs [o, o + count) of a row. A window of as many input columns as there are outputs
// passes along each kernel row in registers; each tap reads one column and one weight. Taps under which all of these
// columns lie outside are left out.
template <bool kFull>
MICA_INLINE void depthwise_window(const ConvProblem& p, const DepthwiseRow& d, int64_t o, int64_t count) {
  constexpr int kPixels = kWindowPixels;
  F32 sum[kPixels], value[kPixels];
  const F32 bias = d.bias ? load_lanes<kFull>(d.bias, d.lanes) : zero();
  MICA_UNROLL for (int i = 0; i < kPixels; ++i) sum[i] = bias;
  const int64_t pixel = p.in_view.pixel, width = p.in[2], begin = o - p.pad[2];
  const int64_t first = begin + kPixels > 0 ? 0 : 1 - begin - kPixels;
  const int64_t taps = width - begin < p.kernel[2] ? width - begin : p.kernel[2];
  for (int64_t r = 0; r < d.tap_count; ++r) {
    if (!d.taps[r].in) continue;
    int64_t x = begin + first;
    const float* in = d.taps[r].in + d.channel + x * pixel;
    const float* w = d.taps[r].w + d.weights_at() + first * kPanel;
    const auto next = [&]() __attribute__((always_inline)) {
      const F32 v = inside(x, width) ? load_lanes<kFull>(in, d.lanes) : zero();
      ++x;
      in += pixel;
      return v;
    };
    MICA_UNROLL for (int i = 0; i < kPixels - 1; ++i) value[i] = next();
    for (int64_t t = first; t < taps; t += kPixels) MICA_UNROLL for (int j = 0; j < kPixels; ++j) {
        if (t + j >= taps) break;
        value[(j + kPixels - 1) % kPixels] = next();
        const F32 weight = load(w);
        w += kPanel;
        MICA_UNROLL for (int i = 0; i < kPixels; ++i) sum[i] = fma(value[(i + j) % kPixels], weight, sum[i]);
      }
  }
  const LaneFinish finish = d.finish;  // a copy: what is stored might alias it
  MICA_UNROLL for (int i = 0; i < kPixels; ++i) if (i < count)
      store_lanes<kFull>(d.out + (o + i) * d.out_pixel, finish(sum[i]), d.lanes);
}

// The last outputs are made with some of those before, to the same bits.
template <bool kFull>
void depthwise_windows(const ConvProblem& p, const DepthwiseRow& d) {
  const int64_t width = p.out[2], last = width < kWindowPixels ? 0 : width - kWindowPixels;
  for (int64_t o = 0; o < width; o += kWindowPixels) depthwise_window<kFull>(p, d, o < last ? o : last, width - last);
}

template <bool kFull>
void depthwise_row(const ConvProblem& p, const DepthwiseRow& d) {
  if (kWithWindows && p.kernel[2] > 1 && p.stride[2] == 1 && p.dilation[2] == 1) return depthwise_windows<kFull>(p, d);
  constexpr int kPixels = !kWithWindows ? 2 : kRegisters >= 32 ? 8 : 4;  // few where no network of the build needs them
  const int64_t width = p.out[2], tail = width < kPixels ? 0 : width - kPixels;
  for (int64_t next = 0; next < width; next += kPixels) {
    const int64_t o = next < tail ? next : tail, first = o * p.stride[2] - p.pad[2];
    const int64_t last = first + (kPixels - 1) * p.stride[2] + (p.kernel[2] - 1) * p.dilation[2];
    if (width >= kPixels && first >= 0 && last < p.in[2])
      depthwise_pixels<kPixels, kFull, true>(p, d, o, kPixels);
    else
      depthwise_pixels<kPixels, kFull, false>(p, d, o, width - o);
  }
}

inline constexpr int kNarrowTile = 4;

// Whether tiles make all of a row: it is wide enough, and nothing but half of the kernel lies outside the input.
MICA_INLINE bool tiles_fit(const ConvProblem& p) {
  const int64_t half = p.kernel[2] / 2, width = p.out[2];
  const int64_t behind = (width - 1) * p.stride[2] - p.pad[2] + p.kernel[2] - p.in[2];
  return width >= kNarrowTile && p.pad[2] <= half && behind <= half;
}

// Seven outputs at a time: the widths of common networks are its multiples; four under a kernel three wide that has not
// three rows, which is rare. The last tile makes again what it shares with the one before.
template <int kWidth, int kStride, bool kFull, int kRows>
MICA_INLINE void depthwise_tiles(const ConvProblem& p, const DepthwiseRow& d) {
  constexpr int kNarrow = kNarrowTile, kWide = kWidth == 3 ? kNarrow : 7;
  const int64_t width = p.out[2];
  int64_t o = 0;
  for (; kWide > kNarrow && width - o > kNarrow && width >= kWide; o += kWide)
    depthwise_tile<kWidth, kStride, kWide, kFull, kRows>(p, d, o <= width - kWide ? o : width - kWide);
  for (; o < width; o += kNarrow)
    depthwise_tile<kWidth, kStride, kNarrow, kFull, kRows>(p, d, o <= width - kNarrow ? o : width - kNarrow);
}

// Whether depthwise_3x3_rows makes a row: three kernel rows, each 3 wide.
MICA_INLINE bool is_three_by_three(const ConvProblem& p) { return p.kernel[0] * p.kernel[1] == 3 && p.kernel[2] == 3; }
inline constexpr bool kWithOtherRows = has_part("depthwise", "other rows");  // than three, each 3 wide

template <int kWidth, int kStride, bool kFull>
void depthwise_row_of(const ConvProblem& p, const DepthwiseRow& d) {
  if (kWidth == 3 && is_three_by_three(p)) return depthwise_3x3_rows<kStride, kFull, 1>(p, d);
  constexpr bool kTiles = kWidth > 3 || (kWithOtherRows && !(kWithWindows && kStride == 1));
  if (!kTiles || !tiles_fit(p)) return depthwise_row<kFull>(p, d);
  if constexpr (kTiles) depthwise_tiles<kWidth, kStride, kFull, 1>(p, d);
}

// Two output rows, whose input rows are read once; of 3x3, with two vectors of channels: where a vector is half a line,
// rows of many pixels push the line out before they pass for the other half. Where registers are 16, most weights are
// operands in memory, which costs less.
inline constexpr int kTwoRowVectors = 2;
template <int kWidth, int kStride = 1>
void depthwise_two_rows(const ConvProblem& p, const DepthwiseRow& d) {
  if constexpr (kWidth == 3)
    depthwise_3x3_rows<kStride, true, kTwoRowVectors, 2>(p, d);
  else
    depthwise_tiles<kWidth, 1, true, 2>(p, d);
}

using DepthwiseRowFn = void (*)(const ConvProblem&, const DepthwiseRow&);

// Widths and strides with code of their own, where no list of a trimmed build leaves it out. The channels behind the
// last whole vector have windows with stride 1 and nothing under 7x7 with stride 2, which is rare; where vectors are
// narrow they are few and have no such code. But that of 3x3 has sums in an order of their own, on the sets whose bits
// are the same (NEON among the narrow ones).
template <int kWidth, int kStride, bool kFull>
constexpr bool has_depthwise() {
  if (kWithWindows && !kFull && (kStride == 1 ? kWidth > 3 : kWidth > 5)) return false;
  const char shape[] = {'0' + kWidth, 'x', '0' + kStride};
  const char rest[] = {'0' + kWidth, 'x', '0' + kStride, ' ', 'r', 'e', 's', 't'};
  constexpr bool kNarrow = kLanes <= 4 && !(kWidth == 3 && kRegisters >= 32);
  if (has_part("depthwise", {rest, sizeof rest})) return kFull || !kNarrow;
  return kFull && has_part("depthwise", {shape, sizeof shape});
}

template <int kStride, bool kFull>
MICA_INLINE DepthwiseRowFn depthwise_fn_of(int64_t width) {
  if constexpr (has_depthwise<3, kStride, kFull>())
    if (width == 3) return depthwise_row_of<3, kStride, kFull>;
  if constexpr (has_depthwise<5, kStride, kFull>())
    if (width == 5) return depthwise_row_of<5, kStride, kFull>;
  if constexpr (has_depthwise<7, kStride, kFull>())
    if (width == 7) return depthwise_row_of<7, kStride, kFull>;
  return depthwise_row<kFull>;
}

// With stride 1, a row under a dilated kernel is as many interlaced rows as its dilation, under a kernel without. Of
// short ones, and those under one row of a kernel, nothing is used again: lines so far apart would only evict each
// other. 3x3 keeps its weights in registers, too.
MICA_INLINE int64_t depthwise_phases(const ConvProblem& p) {
  const int64_t kLeastPixels = is_three_by_three(p) ? 2 : 7;
  const bool pays =
      kWithTapsApart && p.stride[2] == 1 && p.kernel[0] * p.kernel[1] > 1 && p.out[2] >= kLeastPixels * p.dilation[2];
  return pays ? p.dilation[2] : 1;
}

template <bool kFull>
MICA_INLINE DepthwiseRowFn depthwise_fn(const ConvProblem& p) {
  const bool dense = p.dilation[2] == depthwise_phases(p);
  if (dense && p.stride[2] == 1) return depthwise_fn_of<1, kFull>(p.kernel[2]);
  if (dense && p.stride[2] == 2) return depthwise_fn_of<2, kFull>(p.kernel[2]);
  return depthwise_row<kFull>;
}

// The outputs `phase`, phase + dilation, ... of a row.
MICA_INLINE void run_depthwise_phase(DepthwiseRowFn fn, const ConvProblem& p, const DepthwiseRow& row,
                                     DepthwiseTap* taps, int64_t phase) {
  const int64_t dilation = p.dilation[2], back = p.pad[2] - phase;  // the first output's first tap is so far outside
  const int64_t pad = back > 0 ? (back + dilation - 1) / dilation : 0, from = pad * dilation - back;
  ConvProblem q = p;
  q.dilation[2] = 1;
  q.pad[2] = pad;
  q.in_view.pixel *= dilation;
  q.in[2] = from < p.in[2] ? (p.in[2] - from + dilation - 1) / dilation : 0;
  q.out[2] = (p.out[2] - phase + dilation - 1) / dilation;
  DepthwiseRow d = row;
  d.out += phase * row.out_pixel;
  d.out_pixel *= dilation;
  const auto move = [&](int64_t floats) __attribute__((always_inline)) {
    for (int64_t i = 0; i < d.tap_count; ++i)
      if (taps[i].in) taps[i].in += floats;
  };
  move(from * p.in_view.pixel);
  fn(q, d);
  move(-from * p.in_view.pixel);
}

// Two vectors of channels at a time, of 3x3 in the middle of the picture: neighbouring lines that are read together
// come from the second-level cache in two thirds of the time that they take one by one. Null where registers do not
// suffice.
template <int kStride>
void depthwise_row_pair(const ConvProblem& p, const DepthwiseRow& d) {
  depthwise_3x3_rows<kStride, true, 2>(p, d);
}
MICA_INLINE DepthwiseRowFn depthwise_pair_fn(const ConvProblem& p) {
  if (kRegisters < 32 || !is_three_by_three(p) || p.dilation[2] != depthwise_phases(p)) return nullptr;
  if constexpr (kRegisters >= 32 && has_depthwise<3, 1, true>())
    if (p.stride[2] == 1) return depthwise_row_pair<1>;
  if constexpr (kRegisters >= 32 && has_depthwise<3, 2, true>())
    if (p.stride[2] == 2) return depthwise_row_pair<2>;
  return nullptr;
}

// Two output rows at a time. Null where they share no input rows.
MICA_INLINE DepthwiseRowFn depthwise_two_fn(const ConvProblem& p) {
  const bool dense = p.kernel[0] == 1 && p.dilation[1] == 1 && p.dilation[2] == 1 && p.stride[1] == p.stride[2];
  constexpr bool kSuffice = kRegisters >= 32 || kLanes >= 8;
  if (!kSuffice || !dense) return nullptr;
  if constexpr (kSuffice && has_depthwise<3, 2, true>())
    if (p.stride[2] == 2 && p.kernel[1] == 3 && p.kernel[2] == 3) return depthwise_two_rows<3, 2>;
  if (p.stride[2] != 1) return nullptr;
  if constexpr (kSuffice && has_depthwise<3, 1, true>())
    if (p.kernel[1] == 3 && p.kernel[2] == 3) return depthwise_two_rows<3>;
  if constexpr (kRegisters >= 32 && has_depthwise<1, 1, true>())
    if (p.kernel[2] == 1 && tiles_fit(p)) return depthwise_two_rows<1>;
  if constexpr (kRegisters >= 32 && has_depthwise<5, 1, true>())
    if (p.kernel[2] == 5 && tiles_fit(p)) return depthwise_two_rows<5>;
  if constexpr (kRegisters >= 32 && has_depthwise<7, 1, true>())
    if (p.kernel[2] == 7 && tiles_fit(p)) return depthwise_two_rows<7>;
  return nullptr;
}

// The kernel's rows that lie inside the input, for output row `o` (its x is not read); returns how many. `more`: so
// many rows below the kernel count, too. `keeps`: those outside, too, without a place.
MICA_INLINE int64_t aim_rows(const ConvArgs& args, const Pixel& o, DepthwiseTap* taps, int64_t more, bool keeps) {
  const ConvProblem& p = args.problem;
  const Pixel corner = corner_of(p, o);
  const float* w = args.w;
  int64_t count = 0;
  for (int64_t z = 0; z < p.kernel[0]; ++z)
    for (int64_t y = 0; y < p.kernel[1] + more; ++y, w += p.kernel[2] * kPanel) {
      const Pixel from{o.image, corner.z + z * p.dilation[0], corner.y + y * p.dilation[1], 0};
      const bool reads = inside(from.z, p.in[0]) && inside(from.y, p.in[1]);
      if (reads || keeps) taps[count++] = {reads ? args.x + at(p.in_view, from) : nullptr, w};
    }
  return count;
}

struct DepthwiseRange {
  int64_t row_begin, row_end, channel_begin, channel_end;
};

// What is left of the epilogue of one output row: activations beyond a clip and a residual, unless they are done, and
// the caller's finish.
MICA_INLINE void depthwise_finish(const ConvArgs& args, const DepthwiseRange& range, int64_t row, const Pixel& o,
                                  bool activates = true) {
  const ConvProblem& p = args.problem;
  const GemmEpilogue& e = args.epilogue;
  const int64_t channels = range.channel_end - range.channel_begin, pixel = p.out_view.pixel;
  float* out = args.y + at(p.out_view, o) + range.channel_begin;
  const float* residual = e.residual ? e.residual + at(p.residual_view, o) + range.channel_begin : nullptr;
  if (activates)
    kActivateRows[static_cast<int>(e.activation)](
        {out, pixel, out, pixel, residual, p.residual_view.pixel, e.residual_last, p.out[2], channels, e.a, e.b});
  if (e.finish) e.finish(e.finish_context, out, pixel, row * p.out[2], range.channel_begin, p.out[2], channels);
}

// The mean of a row of kLanes (or `lanes`) channels, as four sums that pixels join by turns.
template <bool kFull>
MICA_INLINE F32 mean_of_row(const float* row, int64_t pixel, int64_t width, int lanes) {
  F32 sum[4] = {zero(), zero(), zero(), zero()};
  int64_t x = 0;
  for (; x + 4 <= width; x += 4, row += 4 * pixel)
    MICA_UNROLL for (int i = 0; i < 4; ++i) sum[i] = add(sum[i], load_lanes<kFull>(row + i * pixel, lanes));
  MICA_UNROLL for (int i = 0; i < 3; ++i) if (x + i < width) sum[i] =
      add(sum[i], load_lanes<kFull>(row + i * pixel, lanes));
  return mul(add(add(sum[0], sum[1]), add(sum[2], sum[3])), set1(1.0f / static_cast<float>(width)));
}

// What was stored last is read while it is near. Every mean is one sum in an order that the width alone decides.
MICA_INLINE void store_row_means(const ConvArgs& args, const DepthwiseRange& range, int64_t row, const Pixel& o) {
  const ConvProblem& p = args.problem;
  const float* out = args.y + at(p.out_view, o);
  float* to = args.row_means + row * p.out_channels;
  const int64_t pixel = p.out_view.pixel, width = p.out[2];
  int64_t channel = range.channel_begin;
  for (; channel + kLanes <= range.channel_end; channel += kLanes)
    store(to + channel, mean_of_row<true>(out + channel, pixel, width, kLanes));
  if (const int lanes = static_cast<int>(range.channel_end - channel); lanes > 0)
    store_partial(to + channel, mean_of_row<false>(out + channel, pixel, width, lanes), lanes);
}

// Runs the rows of a range, one or two at a time.
class DepthwiseRunner {
 public:
  MICA_INLINE DepthwiseRunner(const ConvArgs& args, const DepthwiseRange& range, DepthwiseTap* taps)
      : args_(args),
        range_(range),
        taps_(taps),
        d_{.finish = LaneFinish(args.epilogue)},
        later_(!LaneFinish::suffices(args.epilogue)) {
    d_.taps = taps;
    d_.panel_stride = args.problem.kernel[0] * args.problem.kernel[1] * args.problem.kernel[2] * kPanel;
    d_.out_pixel = args.problem.out_view.pixel;
    d_.out_row = args.problem.out_view.row;
  }

  MICA_INLINE void run() {
    const ConvProblem& p = args_.problem;
    for (int64_t next = range_.row_begin, rows = 1; next < range_.row_end; next += rows) {
      int64_t row = next;
      if (args_.choice.depths_first) {
        const int64_t image = next / (p.out[0] * p.out[1]), i = next % (p.out[0] * p.out[1]);
        row = (image * p.out[0] + i % p.out[0]) * p.out[1] + i / p.out[0];
      }
      const int64_t plane = row / p.out[1];
      Pixel o{plane / p.out[0], plane % p.out[0], row % p.out[1], 0};
      int64_t channel = range_.channel_begin;
      rows = 1;
      if (two_ && next + 1 < range_.row_end && o.y + 1 < p.out[1] && aim_two(o)) {
        rows = 2;
        for (; range_.channel_end - channel >= two_width_; channel += two_width_) {
          run_channels(two_, o, row, channel, two_width_);
          tell(d_.out + d_.out_row, row + 1, channel, two_width_);
        }
      }
      for (int64_t i = 0; i < rows; ++i, ++o.y) run_row(o, row + i, channel);
    }
  }

 private:
  // The input rows of two output rows; false where one at a time is made.
  MICA_INLINE bool aim_two(const Pixel& o) {
    const ConvProblem& p = args_.problem;
    const int64_t above = corner_of(p, o).y;
    d_.first_alone = inside(above, p.in[1]);
    d_.last_alone = inside(above + p.kernel[1], p.in[1]);
    if (three_ && !(inside(above + 1, p.in[1]) && inside(above + 1 + p.stride[1], p.in[1]))) return false;
    d_.tap_count = aim_rows(args_, o, taps_, p.stride[1], three_);
    return true;
  }

  // The channels of a row from `channel` on, and what follows the last of them.
  MICA_INLINE void run_row(const Pixel& o, int64_t row, int64_t channel) {
    if (channel < range_.channel_end) d_.tap_count = aim_rows(args_, o, taps_, 0, three_);
    while (channel < range_.channel_end) {
      const int64_t left = range_.channel_end - channel;
      const bool both = pair_ && left >= 2 * kLanes;
      const int64_t width = both ? 2 * kLanes : left < kLanes ? left : kLanes;
      run_channels(both ? pair_ : width == kLanes ? whole_ : partial_, o, row, channel, width);
      channel += width;
    }
    if (later_) depthwise_finish(args_, range_, row, o);
    if (kWithRowMeans && args_.row_means) store_row_means(args_, range_, row, o);
  }

  MICA_INLINE void run_channels(DepthwiseRowFn fn, const Pixel& o, int64_t row, int64_t channel, int64_t width) {
    d_.channel = channel;
    d_.lanes = static_cast<int>(width < kLanes ? width : kLanes);
    d_.bias = args_.epilogue.bias ? args_.epilogue.bias + channel : nullptr;
    d_.out = args_.y + at(args_.problem.out_view, o) + channel;
    const bool apart = kWithTapsApart && phases_ > 1;
    if (!apart) fn(args_.problem, d_);
    for (int64_t phase = 0; apart && phase < phases_; ++phase) run_depthwise_phase(fn, args_.problem, d_, taps_, phase);
    tell(d_.out, row, channel, width);
  }

  MICA_INLINE void tell(float* out, int64_t row, int64_t channel, int64_t width) {
    const GemmEpilogue& e = args_.epilogue;
    const int64_t pixels = args_.problem.out[2];
    if (e.finish && !later_) e.finish(e.finish_context, out, d_.out_pixel, row * pixels, channel, pixels, width);
  }

  const ConvArgs& args_;
  const DepthwiseRange& range_;
  DepthwiseTap* taps_;
  DepthwiseRow d_;
  bool later_;  // the epilogue is a pass of its own
  const bool three_ = is_three_by_three(args_.problem);
  const DepthwiseRowFn whole_ = depthwise_fn<true>(args_.problem), partial_ = depthwise_fn<false>(args_.problem),
                       pair_ = depthwise_pair_fn(args_.problem), two_ = depthwise_two_fn(args_.problem);
  const int64_t phases_ = depthwise_phases(args_.problem);
  const int64_t two_width_ = args_.problem.kernel[2] == 3 ? kTwoRowVectors * kLanes : kLanes;
};

// Runs `task`, and those behind it up to `end` that have its channels, as one. Returns the task after them.
int64_t run_depthwise_rows(const ConvArgs& args, int64_t task, int64_t end, float* scratch) {
  const ConvProblem& p = args.problem;
  const ConvChoice& c = args.choice;
  const auto least = [](int64_t a, int64_t b) { return a < b ? a : b; };
  const int64_t rows = p.images * p.out[0] * p.out[1], first = task % c.row_tasks;
  const int64_t together = least(end - task, c.row_tasks - first);
  const int64_t channel_begin = task / c.row_tasks * c.channel_block;
  const int64_t channel_end = least(channel_begin + c.channel_block, p.out_channels);
  DepthwiseRange range{.row_begin = rows * first / c.row_tasks, .row_end = rows * (first + together) / c.row_tasks};
  for (int64_t channel = channel_begin; channel < channel_end; channel += c.channel_pass) {
    range.channel_begin = channel;
    range.channel_end = least(channel + c.channel_pass, channel_end);
    DepthwiseRunner(args, range, reinterpret_cast<DepthwiseTap*>(scratch)).run();
  }
  return task + together;
}

void run_depthwise(const ConvArgs& args, int64_t task_begin, int64_t task_end, float* scratch) {
  for (int64_t task = task_begin; task < task_end;) task = run_depthwise_rows(args, task, task_end, scratch);
}

}  // namespace mica::MICA_ISA
