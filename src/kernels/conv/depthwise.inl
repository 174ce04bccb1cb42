// Depthwise convolution: one filter for each channel, vectors over channels. Included by conv.isa.cc.
#pragma once
#include "kernels/conv/implicit.inl"
#include "kernels/gemm/activation.inl"

namespace mica::MICA_ISA {

// An input row under one of the kernel's rows: rows outside the input are left out.
struct DepthwiseTap {
  const float* in;  // at input pixel 0, channel 0
  const float* w;   // the row's first tap, channel 0
};

// One output row of kLanes (or `lanes`) channels from `channel` on.
struct DepthwiseRow {
  const DepthwiseTap* taps;
  int64_t tap_count;
  int64_t tap_stride;  // floats from tap to tap of a kernel row
  int64_t channel;
  const float* bias;  // or null
  float* out;
  int64_t out_pixel;
  int lanes;
  float lo, hi;  // -inf and inf where nothing is clipped
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

// kPixels outputs from output `o` on, of a kernel kWidth wide with stride kStride. Each input column of a row is read
// once and goes into every output that it touches; the sums are independent chains, as many as the latency of a
// multiply-add wants. Only the outer columns, half of the kernel on each side, may lie outside the input.
template <int kWidth, int kStride, int kPixels, bool kFull>
MICA_INLINE void depthwise_tile(const ConvProblem& p, const DepthwiseRow& d, int64_t o) {
  F32 sum[kPixels];
  const F32 bias = d.bias ? load_lanes<kFull>(d.bias, d.lanes) : zero();
  MICA_UNROLL for (int i = 0; i < kPixels; ++i) sum[i] = bias;
  const int64_t x = o * kStride - p.pad[2], pixel = p.in_view.pixel, width = p.in[2];
  for (int64_t r = 0; r < d.tap_count; ++r) {
    const float* in = d.taps[r].in + d.channel + x * pixel;
    const float* w = d.taps[r].w + d.channel;
    constexpr int kColumns = (kPixels - 1) * kStride + kWidth;
    F32 value[kColumns];
    MICA_UNROLL for (int j = 0; j < kColumns; ++j) {
      const bool outer = j < kWidth / 2 || j >= kColumns - kWidth / 2;
      value[j] = !outer || inside(x + j, width) ? load_lanes<kFull>(in + j * pixel, d.lanes) : zero();
    }
    MICA_UNROLL for (int t = 0; t < kWidth; ++t) {
      const F32 weight = load(w + t * d.tap_stride);
      MICA_UNROLL for (int i = 0; i < kPixels; ++i) sum[i] = fma(value[i * kStride + t], weight, sum[i]);
    }
  }
  const F32 lo = set1(d.lo), hi = set1(d.hi);
  float* out = d.out + o * d.out_pixel;
  MICA_UNROLL for (int i = 0; i < kPixels; ++i)
      store_lanes<kFull>(out + i * d.out_pixel, min_fast(hi, max_fast(lo, sum[i])), d.lanes);
}

// Three rows 3 wide, with the nine weights of kVectors vectors of channels in registers. Stride 1: each new input
// column of three pixels is read once and goes into the three outputs that it touches. Stride 2: neighbours share one
// column. Every sum runs over the columns from left to right.
template <int kStride, bool kFull, int kVectors>
MICA_INLINE void depthwise_3x3_row(const ConvProblem& p, const DepthwiseRow& d) {
  F32 w[kVectors][9], bias[kVectors];
  MICA_UNROLL for (int k = 0; k < kVectors; ++k) {
    const int64_t at = d.channel + k * kLanes;
    MICA_UNROLL for (int t = 0; t < 9; ++t) w[k][t] = load(d.taps[t / 3].w + at + t % 3 * d.tap_stride);
    bias[k] = d.bias ? load_lanes<kFull>(d.bias + k * kLanes, d.lanes) : zero();
  }
  const F32 lo = set1(d.lo), hi = set1(d.hi);
  const float *r0 = d.taps[0].in + d.channel, *r1 = d.taps[1].in + d.channel, *r2 = d.taps[2].in + d.channel;
  const int64_t pixel = p.in_view.pixel;
  const auto column = [&](int64_t x, F32(&v)[kVectors][3]) __attribute__((always_inline)) {
    const bool reads = inside(x, p.in[2]);
    MICA_UNROLL for (int k = 0; k < kVectors; ++k) {
      const int64_t at = x * pixel + k * kLanes;
      v[k][0] = reads ? load_lanes<kFull>(r0 + at, d.lanes) : zero();
      v[k][1] = reads ? load_lanes<kFull>(r1 + at, d.lanes) : zero();
      v[k][2] = reads ? load_lanes<kFull>(r2 + at, d.lanes) : zero();
    }
  };
  const auto tap = [&](F32 sum, const F32(&v)[3], const F32(&u)[9], int t) __attribute__((always_inline)) {
    return fma(v[2], u[6 + t], fma(v[1], u[3 + t], fma(v[0], u[t], sum)));
  };
  const auto put = [&](int64_t x, int k, F32 sum) __attribute__((always_inline)) {
    store_lanes<kFull>(d.out + x * d.out_pixel + k * kLanes, min_fast(hi, max_fast(lo, sum)), d.lanes);
  };
  const int64_t width = p.out[2];
  int64_t x = -p.pad[2];
  F32 v[kVectors][3], a[kVectors], b[kVectors];
  column(x, v);
  MICA_UNROLL for (int k = 0; k < kVectors; ++k) a[k] = tap(bias[k], v[k], w[k], 0);
  if (kStride == 1) {
    column(x + 1, v);
    MICA_UNROLL for (int k = 0; k < kVectors; ++k) {
      a[k] = tap(a[k], v[k], w[k], 1);
      b[k] = tap(bias[k], v[k], w[k], 0);
    }
    for (int64_t o = 0; o < width; ++o) {
      column(x + o + 2, v);
      MICA_UNROLL for (int k = 0; k < kVectors; ++k) {
        put(o, k, tap(a[k], v[k], w[k], 2));
        a[k] = tap(b[k], v[k], w[k], 1);
        b[k] = tap(bias[k], v[k], w[k], 0);
      }
    }
  } else {
    for (int64_t o = 0; o < width; ++o, x += 2) {
      column(x + 1, v);
      MICA_UNROLL for (int k = 0; k < kVectors; ++k) a[k] = tap(a[k], v[k], w[k], 1);
      column(x + 2, v);
      MICA_UNROLL for (int k = 0; k < kVectors; ++k) {
        put(o, k, tap(a[k], v[k], w[k], 2));
        a[k] = tap(bias[k], v[k], w[k], 0);
      }
    }
  }
}

// Any kernel: kPixels outputs share each weight. All kernel columns [first, last) must lie inside for all pixels.
template <int kPixels, bool kFull>
MICA_INLINE void depthwise_pixels(const ConvProblem& p, const DepthwiseRow& d, int64_t o, int64_t first, int64_t last) {
  F32 sum[kPixels];
  const F32 bias = d.bias ? load_lanes<kFull>(d.bias, d.lanes) : zero();
  MICA_UNROLL for (int i = 0; i < kPixels; ++i) sum[i] = bias;
  const int64_t pixel = p.in_view.pixel, step = pixel * p.stride[2], tap_step = pixel * p.dilation[2];
  for (int64_t r = 0; r < d.tap_count; ++r) {
    const float* in = d.taps[r].in + d.channel + (o * p.stride[2] - p.pad[2]) * pixel + first * tap_step;
    const float* w = d.taps[r].w + d.channel + first * d.tap_stride;
    for (int64_t t = first; t < last; ++t, in += tap_step, w += d.tap_stride) {
      const F32 weight = load(w);
      MICA_UNROLL for (int i = 0; i < kPixels; ++i) sum[i] =
          fma(load_lanes<kFull>(in + i * step, d.lanes), weight, sum[i]);
    }
  }
  const F32 lo = set1(d.lo), hi = set1(d.hi);
  MICA_UNROLL for (int i = 0; i < kPixels; ++i)
      store_lanes<kFull>(d.out + (o + i) * d.out_pixel, min_fast(hi, max_fast(lo, sum[i])), d.lanes);
}

template <bool kFull>
void depthwise_row(const ConvProblem& p, const DepthwiseRow& d) {
  constexpr int kPixels = kRegisters >= 32 ? 8 : 4;
  const int64_t width = p.out[2], stride = p.stride[2], dilation = p.dilation[2], pad = p.pad[2];
  const auto first_of = [&](int64_t o) {  // the first tap with o·stride - pad + t·dilation >= 0
    const int64_t begin = o * stride - pad;
    const int64_t t = begin >= 0 ? 0 : (-begin + dilation - 1) / dilation;
    return t < p.kernel[2] ? t : p.kernel[2];
  };
  const auto last_of = [&](int64_t o) {
    const int64_t begin = o * stride - pad, room = p.in[2] - begin;
    const int64_t t = room <= 0 ? 0 : (room + dilation - 1) / dilation;
    return t < p.kernel[2] ? t : p.kernel[2];
  };
  for (int64_t o = 0; o < width;) {
    const bool whole = o + kPixels <= width && first_of(o) == 0 && last_of(o + kPixels - 1) == p.kernel[2];
    if (whole) {
      depthwise_pixels<kPixels, kFull>(p, d, o, 0, p.kernel[2]);
      o += kPixels;
    } else {
      const int64_t first = first_of(o), last = last_of(o);
      depthwise_pixels<1, kFull>(p, d, o, first < last ? first : last, last);
      ++o;
    }
  }
}

// Seven outputs at a time: the widths of common networks are its multiples; four of 3x3, where only the picture's first
// and last rows come here. The last tile makes again what it shares with the one before.
template <int kWidth, int kStride, bool kFull>
void depthwise_row_of(const ConvProblem& p, const DepthwiseRow& d) {
  if (kWidth == 3 && d.tap_count == 3) return depthwise_3x3_row<kStride, kFull, 1>(p, d);
  constexpr int kNarrow = 4, kWide = kWidth == 3 ? kNarrow : 7, kHalf = kWidth / 2;
  const int64_t width = p.out[2], behind = (width - 1) * kStride - p.pad[2] + kWidth - p.in[2];
  if (width < kNarrow || p.pad[2] > kHalf || behind > kHalf) return depthwise_row<kFull>(p, d);
  int64_t o = 0;
  for (; kWide > kNarrow && width - o > kNarrow && width >= kWide; o += kWide)
    depthwise_tile<kWidth, kStride, kWide, kFull>(p, d, o <= width - kWide ? o : width - kWide);
  for (; o < width; o += kNarrow)
    depthwise_tile<kWidth, kStride, kNarrow, kFull>(p, d, o <= width - kNarrow ? o : width - kNarrow);
}

using DepthwiseRowFn = void (*)(const ConvProblem&, const DepthwiseRow&);

// Widths and strides with code of their own, where no list of a trimmed build leaves it out. Where vectors are narrow,
// few channels are behind the last whole one: no such code for them, but that of 3x3, whose sums have an order of their
// own, on the sets whose bits are the same (NEON among the narrow ones).
template <int kWidth, int kStride, bool kFull>
constexpr bool has_depthwise() {
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

template <bool kFull>
MICA_INLINE DepthwiseRowFn depthwise_fn(const ConvProblem& p) {
  if (p.dilation[2] == 1 && p.stride[2] == 1) return depthwise_fn_of<1, kFull>(p.kernel[2]);
  if (p.dilation[2] == 1 && p.stride[2] == 2) return depthwise_fn_of<2, kFull>(p.kernel[2]);
  return depthwise_row<kFull>;
}

// Two vectors of channels at a time, of 3x3 in the middle of the picture: neighbouring lines that are read together
// come from the second-level cache in two thirds of the time that they take one by one. Null where registers do not
// suffice.
template <int kStride>
void depthwise_row_pair(const ConvProblem& p, const DepthwiseRow& d) {
  depthwise_3x3_row<kStride, true, 2>(p, d);
}
MICA_INLINE DepthwiseRowFn depthwise_pair_fn(const ConvProblem& p) {
  if (kRegisters < 32 || p.kernel[2] != 3 || p.dilation[2] != 1) return nullptr;
  if constexpr (kRegisters >= 32 && has_depthwise<3, 1, true>())
    if (p.stride[2] == 1) return depthwise_row_pair<1>;
  if constexpr (kRegisters >= 32 && has_depthwise<3, 2, true>())
    if (p.stride[2] == 2) return depthwise_row_pair<2>;
  return nullptr;
}

// The kernel's rows that lie inside the input, for output row `o` (its x is not read); returns how many.
MICA_INLINE int64_t aim_rows(const ConvArgs& args, const Pixel& o, int64_t tap_stride, DepthwiseTap* taps) {
  const ConvProblem& p = args.problem;
  const Pixel corner = corner_of(p, o);
  const float* w = args.w;
  int64_t count = 0;
  for (int64_t z = 0; z < p.kernel[0]; ++z)
    for (int64_t y = 0; y < p.kernel[1]; ++y, w += p.kernel[2] * tap_stride) {
      const Pixel from{o.image, corner.z + z * p.dilation[0], corner.y + y * p.dilation[1], 0};
      if (inside(from.z, p.in[0]) && inside(from.y, p.in[1])) taps[count++] = {args.x + at(p.in_view, from), w};
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

void depthwise_rows(const ConvArgs& args, const DepthwiseRange& range, DepthwiseTap* taps) {
  const ConvProblem& p = args.problem;
  const GemmEpilogue& e = args.epilogue;
  const bool clips = e.activation == Activation::kClip && !e.residual;
  const bool later = !clips && (e.activation != Activation::kNone || e.residual);
  const float inf = __builtin_inff();
  const auto least = [](int64_t a, int64_t b) { return a < b ? a : b; };
  const DepthwiseRowFn whole = depthwise_fn<true>(p), partial = depthwise_fn<false>(p), pair = depthwise_pair_fn(p);
  DepthwiseRow d{.taps = taps,
                 .tap_stride = panel_count(p.out_channels) * kPanel,
                 .out_pixel = p.out_view.pixel,
                 .lo = clips ? e.a : -inf,
                 .hi = clips ? e.b : inf};
  for (int64_t row = range.row_begin; row < range.row_end; ++row) {
    const int64_t plane = row / p.out[1];
    const Pixel o{plane / p.out[0], plane % p.out[0], row % p.out[1], 0};
    d.tap_count = aim_rows(args, o, d.tap_stride, taps);
    int64_t width = kLanes;  // of a pass
    for (int64_t channel = range.channel_begin; channel < range.channel_end; channel += width) {
      const int64_t left = range.channel_end - channel;
      const bool both = pair && d.tap_count == 3 && left >= 2 * kLanes;
      width = both ? 2 * kLanes : least(left, kLanes);
      d.channel = channel;
      d.lanes = static_cast<int>(least(left, kLanes));
      d.bias = e.bias ? e.bias + channel : nullptr;
      d.out = args.y + at(p.out_view, o) + channel;
      (both ? pair : d.lanes == kLanes ? whole : partial)(p, d);
      if (e.finish && !later) e.finish(e.finish_context, d.out, d.out_pixel, row * p.out[2], channel, p.out[2], width);
    }
    if (later) depthwise_finish(args, range, row, o);
    if (kWithRowMeans && args.row_means) store_row_means(args, range, row, o);
  }
}

void run_depthwise_task(const ConvArgs& args, int64_t task, float* scratch) {
  const ConvProblem& p = args.problem;
  const ConvChoice& c = args.choice;
  const auto least = [](int64_t a, int64_t b) { return a < b ? a : b; };
  const int64_t all_rows = p.images * p.out[0] * p.out[1];
  const int64_t channel_tasks = (p.out_channels + c.channel_block - 1) / c.channel_block;
  const int64_t row_begin = task / channel_tasks * c.row_block, channel_begin = task % channel_tasks * c.channel_block;
  const int64_t channel_end = least(channel_begin + c.channel_block, p.out_channels);
  DepthwiseRange range{.row_begin = row_begin, .row_end = least(row_begin + c.row_block, all_rows)};
  for (int64_t channel = channel_begin; channel < channel_end; channel += c.channel_pass) {
    range.channel_begin = channel;
    range.channel_end = least(channel + c.channel_pass, channel_end);
    depthwise_rows(args, range, reinterpret_cast<DepthwiseTap*>(scratch));
  }
}

}  // namespace mica::MICA_ISA
