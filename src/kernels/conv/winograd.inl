// Winograd F(4x4, 3x3) on blocks of tiles: the transformed inputs and products of a block stay in the second-level
// cache. Included by conv.isa.cc. See kernels/conv/winograd.h for the algorithm and its error.
#pragma once
#include "kernels/conv/implicit.inl"
#include "kernels/conv/winograd.h"
#include "kernels/gemm/activation.inl"

namespace mica::MICA_ISA {

// out = Bᵀ d along one axis; six values `step` apart in, `step` apart out.
MICA_INLINE void input_points(const F32* d, int in_step, F32* out, int out_step) {
  const F32 d0 = d[0], d1 = d[in_step], d2 = d[2 * in_step], d3 = d[3 * in_step], d4 = d[4 * in_step],
            d5 = d[5 * in_step];
  const F32 four = set1(4.0f), five = set1(5.0f), two = set1(2.0f);
  const F32 even = fnma(four, d2, d4), odd = fnma(four, d1, d3);
  const F32 near = sub(d4, d2), far = mul(two, sub(d3, d1));
  out[0] = add(fnma(five, d2, mul(four, d0)), d4);
  out[out_step] = add(even, odd);
  out[2 * out_step] = sub(even, odd);
  out[3 * out_step] = add(near, far);
  out[4 * out_step] = sub(near, far);
  out[5 * out_step] = add(fnma(five, d3, mul(four, d1)), d5);
}

// out = Aᵀ m along one axis: six values to four.
MICA_INLINE void output_points(const F32* m, int in_step, F32* out, int out_step) {
  const F32 m1 = m[in_step], m2 = m[2 * in_step], m3 = m[3 * in_step], m4 = m[4 * in_step];
  const F32 a = add(m1, m2), b = sub(m1, m2), c = add(m3, m4), d = sub(m3, m4);
  out[0] = add(add(m[0], a), c);
  out[out_step] = fma(set1(2.0f), d, b);
  out[2 * out_step] = fma(set1(4.0f), c, a);
  out[3 * out_step] = add(fma(set1(8.0f), d, b), m[5 * in_step]);
}

struct WinogradBlock {
  float* v;                  // [36][tiles][channels]
  float* m;                  // [36][tiles][columns]
  int64_t v_row, m_row;      // floats from tile to tile
  int64_t v_point, m_point;  // floats from point to point
};

MICA_INLINE Pixel winograd_tile(const ConvProblem& p, int64_t tile) {
  const int64_t across = (p.out[2] + 3) / 4, down = (p.out[1] + 3) / 4, line = tile / across;
  return {line / down, 0, line % down * 4, tile % across * 4};
}

void winograd_inputs(const ConvArgs& args, const WinogradBlock& block, int64_t tile_begin, int64_t tile_end) {
  const ConvProblem& p = args.problem;
  for (int64_t tile = tile_begin; tile < tile_end; ++tile) {
    const Pixel corner = corner_of(p, winograd_tile(p, tile));
    const float* x = args.x + at(p.in_view, {corner.image, 0, corner.y, corner.x});
    float* out = block.v + (tile - tile_begin) * block.v_row;
    const bool whole = corner.y >= 0 && corner.x >= 0 && corner.y + 6 <= p.in[1] && corner.x + 6 <= p.in[2];
    for (int64_t c = 0; c < p.in_channels; c += kLanes) {
      const int lanes = p.in_channels - c < kLanes ? static_cast<int>(p.in_channels - c) : kLanes;
      F32 d[36], e[36];
      if (whole && lanes == kLanes) {
        MICA_UNROLL for (int i = 0; i < 6; ++i) MICA_UNROLL for (int j = 0; j < 6; ++j) d[i * 6 + j] =
            load(x + i * p.in_view.row + j * p.in_view.pixel + c);
      } else {
        for (int i = 0; i < 6; ++i)
          for (int j = 0; j < 6; ++j)
            d[i * 6 + j] = inside(corner.y + i, p.in[1]) && inside(corner.x + j, p.in[2])
                               ? load_partial(x + i * p.in_view.row + j * p.in_view.pixel + c, lanes)
                               : zero();
      }
      MICA_UNROLL for (int j = 0; j < 6; ++j) input_points(d + j, 6, e + j, 6);
      MICA_UNROLL for (int i = 0; i < 6; ++i) input_points(e + i * 6, 1, d + i * 6, 1);
      for (int i = 0; i < 36; ++i) store(out + i * block.v_point + c, d[i]);
    }
  }
}

void winograd_products(const ConvArgs& args, const WinogradBlock& block, int64_t tiles) {
  const ConvProblem& p = args.problem;
  const int64_t panels = panel_count(p.out_channels), channels = p.in_channels;
  static constexpr GemmEpilogue kPlain{};
  RowBlock rows{.segment_k = channels,
                .a_stride = block.v_row,
                .panel_stride = channels * kPanel,
                .panel_end = panels,
                .n = panels * kPanel,
                .c_stride = block.m_row,
                .epilogue = &kPlain};
  for (int point = 0; point < kWinogradPoints; ++point) {
    rows.b = args.w + point * panels * channels * kPanel;
    int64_t left = (tiles + gemm_kernels.tile_rows - 1) / gemm_kernels.tile_rows;
    for (int64_t tile = 0; tile < tiles; tile += rows.rows, --left) {
      rows.rows = static_cast<int>((tiles - tile + left - 1) / left);
      const float* a = block.v + point * block.v_point + tile * block.v_row;
      rows.segments = &a;
      rows.c = block.m + point * block.m_point + tile * block.m_row;
      gemm_kernels.row_block(rows);
    }
  }
}

// The 16 outputs of one tile and one vector of channels, with bias; residual and clip where they need no loop of their
// own.
template <bool kFull>
MICA_INLINE void winograd_output(const ConvArgs& args, const float* m, int64_t m_point, const Pixel& o, int64_t n,
                                 int lanes) {
  const ConvProblem& p = args.problem;
  const GemmEpilogue& e = args.epilogue;
  F32 a[36], b[24], y[16];
  MICA_UNROLL for (int i = 0; i < 36; ++i) a[i] = load(m + i * m_point + n);
  MICA_UNROLL for (int j = 0; j < 6; ++j) output_points(a + j, 6, b + j, 6);
  MICA_UNROLL for (int i = 0; i < 4; ++i) output_points(b + i * 6, 1, y + i * 4, 1);
  const F32 bias = !e.bias ? zero() : kFull ? load(e.bias + n) : load_partial(e.bias + n, lanes);
  const float inf = __builtin_inff();
  const bool clips = e.activation == Activation::kClip;
  const F32 lo = set1(clips ? e.a : -inf), hi = set1(clips ? e.b : inf);
  const int64_t rows = p.out[1] - o.y < 4 ? p.out[1] - o.y : 4, columns = p.out[2] - o.x < 4 ? p.out[2] - o.x : 4;
  float* out = args.y + at(p.out_view, o) + n;
  const float* residual = e.residual ? e.residual + at(p.residual_view, o) + n : nullptr;
  for (int64_t i = 0; i < rows; ++i)
    for (int64_t j = 0; j < columns; ++j) {
      F32 value = add(y[i * 4 + j], bias);
      if (residual) {
        const float* r = residual + i * p.residual_view.row + j * p.residual_view.pixel;
        const F32 other = kFull ? load(r) : load_partial(r, lanes);
        value = e.residual_last ? add(min_fast(hi, max_fast(lo, value)), other)
                                : min_fast(hi, max_fast(lo, add(value, other)));
      } else {
        value = min_fast(hi, max_fast(lo, value));
      }
      float* place = out + i * p.out_view.row + j * p.out_view.pixel;
      if (kFull)
        store(place, value);
      else
        store_partial(place, value, lanes);
    }
}

// Activations beyond a clip, and the finish, on the rows of one tile.
void winograd_finish(const ConvArgs& args, const Pixel& o) {
  const ConvProblem& p = args.problem;
  const GemmEpilogue& e = args.epilogue;
  const int64_t rows = p.out[1] - o.y < 4 ? p.out[1] - o.y : 4, columns = p.out[2] - o.x < 4 ? p.out[2] - o.x : 4;
  for (int64_t i = 0; i < rows; ++i) {
    const Pixel row{o.image, o.z, o.y + i, o.x};
    float* out = args.y + at(p.out_view, row);
    if (e.activation > Activation::kClip)
      kActivateRows[static_cast<int>(e.activation)](
          {out, p.out_view.pixel, out, p.out_view.pixel, e.residual ? e.residual + at(p.residual_view, row) : nullptr,
           p.residual_view.pixel, e.residual_last, columns, p.out_channels, e.a, e.b});
    if (e.finish)
      e.finish(e.finish_context, out, p.out_view.pixel, (row.image * p.out[1] + row.y) * p.out[2] + row.x, 0, columns,
               p.out_channels);
  }
}

void run_winograd_task(const ConvArgs& args, int64_t task, float* scratch) {
  const ConvProblem& p = args.problem;
  const ConvChoice& c = args.choice;
  const int64_t begin = task * c.tile_block, end = begin + c.tile_block < c.tiles ? begin + c.tile_block : c.tiles;
  const int64_t columns = panel_count(p.out_channels) * kPanel;
  WinogradBlock block{.v = scratch, .v_row = (p.in_channels + 15) / 16 * 16, .m_row = columns};
  block.v_point = c.tile_block * block.v_row + 16;
  block.m_point = c.tile_block * block.m_row + 16;
  block.m = scratch + kWinogradPoints * block.v_point;
  winograd_inputs(args, block, begin, end);
  winograd_products(args, block, end - begin);
  const GemmEpilogue& e = args.epilogue;
  const bool later = e.activation > Activation::kClip;
  ConvArgs plain = args;
  if (later) plain.epilogue = {.bias = e.bias};
  for (int64_t tile = begin; tile < end; ++tile) {
    const Pixel o = winograd_tile(p, tile);
    const float* m = block.m + (tile - begin) * block.m_row;
    int64_t n = 0;
    for (; n + kLanes <= p.out_channels; n += kLanes) winograd_output<true>(plain, m, block.m_point, o, n, kLanes);
    if (n < p.out_channels) winograd_output<false>(plain, m, block.m_point, o, n, static_cast<int>(p.out_channels - n));
    if (later || e.finish) winograd_finish(args, o);
  }
}

}  // namespace mica::MICA_ISA
