// Depthwise convolution: one filter for each channel, vectors over channels. Included by conv.isa.cc.
#pragma once
#include "kernels/conv/implicit.inl"
#include "kernels/gemm/activation.inl"

namespace mica::MICA_ISA {

// One output row of kLanes (or `lanes`) channels.
struct DepthwiseRow {
  const float* const* rows;  // the input rows under the kernel's rows, at input pixel 0 of these channels
  const int64_t* row_pixel;  // floats from pixel to pixel of each; 0 for a row outside, which points at zeros
  int64_t row_count;         // depth x height taps
  const float* w;            // taps of these channels, tap_stride apart
  int64_t tap_stride;
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

// 3 x 3 with the nine weights in registers. Stride 1: each new input column of three pixels is read once and goes into
// the three outputs that it touches. Stride 2: neighbours share one column. Every sum runs over the columns from left
// to right.
template <int kStride, bool kFull>
void depthwise_3x3_row(const ConvProblem& p, const DepthwiseRow& d) {
  F32 w[9];
  MICA_UNROLL for (int t = 0; t < 9; ++t) w[t] = load(d.w + t * d.tap_stride);
  const F32 bias = d.bias ? load_lanes<kFull>(d.bias, d.lanes) : zero(), lo = set1(d.lo), hi = set1(d.hi);
  const float *r0 = d.rows[0], *r1 = d.rows[1], *r2 = d.rows[2];
  const int64_t s0 = d.row_pixel[0], s1 = d.row_pixel[1], s2 = d.row_pixel[2];
  const auto column = [&](int64_t x, F32(&v)[3]) __attribute__((always_inline)) {
    if (!inside(x, p.in[2])) {
      v[0] = v[1] = v[2] = zero();
      return;
    }
    v[0] = load_lanes<kFull>(r0 + x * s0, d.lanes);
    v[1] = load_lanes<kFull>(r1 + x * s1, d.lanes);
    v[2] = load_lanes<kFull>(r2 + x * s2, d.lanes);
  };
  const auto tap = [&](F32 sum, const F32(&v)[3], int t) __attribute__((always_inline)) {
    return fma(v[2], w[6 + t], fma(v[1], w[3 + t], fma(v[0], w[t], sum)));
  };
  const auto put = [&](int64_t x, F32 sum) __attribute__((always_inline)) {
    store_lanes<kFull>(d.out + x * d.out_pixel, min_fast(hi, max_fast(lo, sum)), d.lanes);
  };
  const int64_t width = p.out[2];
  int64_t x = -p.pad[2];
  F32 v[3];
  column(x, v);
  if (kStride == 1) {
    F32 a = tap(bias, v, 0), b;
    column(x + 1, v);
    a = tap(a, v, 1);
    b = tap(bias, v, 0);
    for (int64_t o = 0; o < width; ++o) {
      column(x + o + 2, v);
      put(o, tap(a, v, 2));
      a = tap(b, v, 1);
      b = tap(bias, v, 0);
    }
  } else {
    F32 a = tap(bias, v, 0);
    for (int64_t o = 0; o < width; ++o, x += 2) {
      column(x + 1, v);
      a = tap(a, v, 1);
      column(x + 2, v);
      put(o, tap(a, v, 2));
      a = tap(bias, v, 0);
    }
  }
}

// Any kernel: kPixels outputs share each weight. All kernel columns [first, last) must lie inside for all pixels.
template <int kPixels, bool kFull>
MICA_INLINE void depthwise_pixels(const ConvProblem& p, const DepthwiseRow& d, int64_t o, int64_t first, int64_t last) {
  F32 sum[kPixels];
  const F32 bias = d.bias ? load_lanes<kFull>(d.bias, d.lanes) : zero();
  MICA_UNROLL for (int i = 0; i < kPixels; ++i) sum[i] = bias;
  for (int64_t r = 0; r < d.row_count; ++r) {
    const int64_t pixel = d.row_pixel[r], step = pixel * p.stride[2], tap_step = pixel * p.dilation[2];
    const float* in = d.rows[r] + (o * p.stride[2] - p.pad[2]) * pixel + first * tap_step;
    const float* w = d.w + (r * p.kernel[2] + first) * d.tap_stride;
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

using DepthwiseRowFn = void (*)(const ConvProblem&, const DepthwiseRow&);

MICA_INLINE DepthwiseRowFn pick_depthwise(const ConvProblem& p, bool full) {
  const bool is_3x3 = p.kernel[0] == 1 && p.kernel[1] == 3 && p.kernel[2] == 3 && p.dilation[2] == 1;
  if (is_3x3 && p.stride[2] == 1) return full ? depthwise_3x3_row<1, true> : depthwise_3x3_row<1, false>;
  if (is_3x3 && p.stride[2] == 2) return full ? depthwise_3x3_row<2, true> : depthwise_3x3_row<2, false>;
  return full ? depthwise_row<true> : depthwise_row<false>;
}

// The kernel's input rows for output row `o` (its x is not read), from channel 0.
MICA_INLINE void aim_rows(const ConvArgs& args, const Pixel& o, const float* zeros, const float** rows,
                          int64_t* pixels) {
  const ConvProblem& p = args.problem;
  const Pixel corner = corner_of(p, o);
  for (int64_t z = 0; z < p.kernel[0]; ++z)
    for (int64_t y = 0; y < p.kernel[1]; ++y) {
      const Pixel from{o.image, corner.z + z * p.dilation[0], corner.y + y * p.dilation[1], 0};
      const bool is_inside = inside(from.z, p.in[0]) && inside(from.y, p.in[1]);
      *rows++ = is_inside ? args.x + at(p.in_view, from) : zeros;
      *pixels++ = is_inside ? p.in_view.pixel : 0;
    }
}

void run_depthwise_task(const ConvArgs& args, int64_t task, float* scratch) {
  const ConvProblem& p = args.problem;
  const ConvChoice& c = args.choice;
  const GemmEpilogue& e = args.epilogue;
  const int64_t all_rows = p.images * p.out[0] * p.out[1], row_tasks = (all_rows + c.row_block - 1) / c.row_block;
  const int64_t row_begin = task % row_tasks * c.row_block, channel_begin = task / row_tasks * c.channel_block;
  const int64_t row_end = row_begin + c.row_block < all_rows ? row_begin + c.row_block : all_rows;
  const int64_t channel_end =
      channel_begin + c.channel_block < p.out_channels ? channel_begin + c.channel_block : p.out_channels;
  const int64_t taps = p.kernel[0] * p.kernel[1];
  // Scratch: zeros for one vector, then pointers and strides of the kernel's rows, as channel 0 and as this vector see
  // them.
  for (int i = 0; i < kPanel; ++i) scratch[i] = 0.0f;
  const float** base = reinterpret_cast<const float**>(scratch + kPanel);
  const float** rows = base + taps;
  int64_t* pixels = reinterpret_cast<int64_t*>(rows + taps);
  const bool clips = e.activation == Activation::kClip && !e.residual;
  const bool later = !clips && (e.activation != Activation::kNone || e.residual);
  const float inf = __builtin_inff();
  DepthwiseRow d{.rows = rows,
                 .row_pixel = pixels,
                 .row_count = taps,
                 .tap_stride = panel_count(p.out_channels) * kPanel,
                 .out_pixel = p.out_view.pixel,
                 .lo = clips ? e.a : -inf,
                 .hi = clips ? e.b : inf};
  for (int64_t row = row_begin; row < row_end; ++row) {
    const int64_t plane = row / p.out[1];
    const Pixel o{plane / p.out[0], plane % p.out[0], row % p.out[1], 0};
    aim_rows(args, o, scratch, base, pixels);
    for (int64_t channel = channel_begin; channel < channel_end; channel += kLanes) {
      for (int64_t t = 0; t < taps; ++t) rows[t] = pixels[t] ? base[t] + channel : base[t];
      d.lanes = channel_end - channel < kLanes ? static_cast<int>(channel_end - channel) : kLanes;
      d.w = args.w + channel;
      d.bias = e.bias ? e.bias + channel : nullptr;
      d.out = args.y + at(p.out_view, o) + channel;
      pick_depthwise(p, d.lanes == kLanes)(p, d);
      if (e.finish && !later)
        e.finish(e.finish_context, d.out, d.out_pixel, row * p.out[2], channel, p.out[2], d.lanes);
    }
    if (!later) continue;
    float* out = args.y + at(p.out_view, o) + channel_begin;
    const float* residual = e.residual ? e.residual + at(p.residual_view, o) + channel_begin : nullptr;
    kActivateRows[static_cast<int>(e.activation)]({out, d.out_pixel, out, d.out_pixel, residual, p.residual_view.pixel,
                                                   e.residual_last, p.out[2], channel_end - channel_begin, e.a, e.b});
    if (e.finish)
      e.finish(e.finish_context, out, d.out_pixel, row * p.out[2], channel_begin, p.out[2],
               channel_end - channel_begin);
  }
}

}  // namespace mica::MICA_ISA
