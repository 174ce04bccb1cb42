// Convolution to few output channels, whose panel of columns would be mostly empty: the taps of a kernel row stand side
// by side in it. Included by conv.isa.cc.
//
//   P[i][t, n] = Σ over kernel rows and channels c of x[row, i, c] · w[row, t, c, n]      a product, i an input pixel
//   y[o][n] = bias[n] + Σ_t P[o - pad + t · dilation][t, n]                               sums of shifted rows
//
// Taps outside the input are left out.
#pragma once
#include "kernels/conv/implicit.inl"
#include "kernels/gemm/activation.inl"

namespace mica::MICA_ISA {

// Outputs [begin, end) of one line, the input pixels [first, last) of a row under them, and their products.
struct SpreadPart {
  int64_t begin, end, first, last;
  float* products;
  int64_t width;  // floats of a row of products
};

// The products of one line; false when no kernel row lies inside the input.
MICA_INLINE bool spread_products(const ConvArgs& args, const Pixel& corner, const SpreadPart& part,
                                 const float** segments) {
  const ConvProblem& p = args.problem;
  const int64_t depth = p.kernel[1] * p.in_channels, pixels = part.last - part.first;
  if (pixels <= 0 || !inside(corner.z, p.in[0])) return false;
  GemmEpilogue none;
  RowBlock block{.segments = segments,
                 .segment_count = 0,
                 .segment_k = p.in_channels,
                 .a_stride = p.in_view.pixel,
                 .b = args.w,
                 .panel_stride = depth * kPanel,
                 .panel_end = part.width / kPanel,
                 .n = part.width,
                 .c_stride = part.width,
                 .epilogue = &none};
  for (int64_t y = 0; y < p.kernel[1]; ++y) {
    const Pixel from{corner.image, corner.z, corner.y + y * p.dilation[1], part.first};
    if (!inside(from.y, p.in[1])) continue;
    if (block.segment_count == 0) block.b = args.w + y * p.in_channels * kPanel;
    segments[block.segment_count++] = args.x + at(p.in_view, from);
  }
  if (block.segment_count == 0) return false;
  const int64_t tiles = (pixels + args.choice.tile_rows - 1) / args.choice.tile_rows;
  for (int64_t t = 0; t < tiles; ++t) {
    const int64_t begin = pixels * t / tiles;
    block.rows = static_cast<int>(pixels * (t + 1) / tiles - begin);
    block.c = part.products + begin * part.width;
    gemm_kernels.row_block(block);
    for (int64_t s = 0; s < block.segment_count; ++s) segments[s] += block.rows * p.in_view.pixel;
  }
  return true;
}

// The sums of the outputs of one part; without products, the bias alone.
MICA_INLINE void spread_sums(const ConvArgs& args, const SpreadPart& part, bool has_products, float* out) {
  const ConvProblem& p = args.problem;
  const float* bias = args.epilogue.bias;
  const int64_t channels = p.out_channels, dilation = p.dilation[2], taps = has_products ? p.kernel[2] : 0;
  for (int64_t c = 0; c < channels; c += kLanes) {
    const int lanes = channels - c < kLanes ? static_cast<int>(channels - c) : kLanes;
    const F32 start = bias ? load_partial(bias + c, lanes) : zero();
    for (int64_t o = part.begin; o < part.end; ++o) {
      F32 sum = start;
      const int64_t corner = o - p.pad[2] - part.first, pixels = part.last - part.first;
      for (int64_t t = 0; t < taps; ++t) {
        const int64_t i = corner + t * dilation;
        if (inside(i, pixels)) sum = add(sum, load(part.products + i * part.width + t * channels + c));
      }
      store_partial(out + (o - part.begin) * p.out_view.pixel + c, sum, lanes);
    }
  }
}

MICA_INLINE void spread_line(const ConvArgs& args, int64_t line, float* scratch) {
  const ConvProblem& p = args.problem;
  const GemmEpilogue& e = args.epilogue;
  const auto least = [](int64_t a, int64_t b) { return a < b ? a : b; };
  const int64_t plane = line / p.out[1], reach = (p.kernel[2] - 1) * p.dilation[2] + 1;
  auto** segments = reinterpret_cast<const float**>(scratch);
  SpreadPart part{.products = scratch + (p.kernel[1] * 2 + 15) / 16 * 16,
                  .width = panel_count(p.kernel[2] * p.out_channels) * kPanel};
  for (part.begin = 0; part.begin < p.out[2]; part.begin = part.end) {
    part.end = least(part.begin + args.choice.band_columns, p.out[2]);
    const Pixel o{plane / p.out[0], plane % p.out[0], line % p.out[1], part.begin};
    const Pixel corner = corner_of(p, o);
    part.first = corner.x > 0 ? corner.x : 0;
    part.last = least(part.end - 1 - p.pad[2] + reach, p.in[2]);
    float* out = args.y + at(p.out_view, o);
    spread_sums(args, part, spread_products(args, corner, part, segments), out);
    const int64_t count = part.end - part.begin, pixel = p.out_view.pixel;
    if (e.activation != Activation::kNone || e.residual) {
      const float* residual = e.residual ? e.residual + at(p.residual_view, o) : nullptr;
      kActivateRows[static_cast<int>(e.activation)]({out, pixel, out, pixel, residual, p.residual_view.pixel,
                                                     e.residual_last, static_cast<int>(count), p.out_channels, e.a,
                                                     e.b});
    }
    if (e.finish) e.finish(e.finish_context, out, pixel, line * p.out[2] + part.begin, 0, count, p.out_channels);
  }
}

void run_spread_task(const ConvArgs& args, int64_t task, float* scratch) {
  const ConvProblem& p = args.problem;
  const int64_t lines = p.images * p.out[0] * p.out[1], begin = task * args.choice.row_block;
  const int64_t end = begin + args.choice.row_block < lines ? begin + args.choice.row_block : lines;
  for (int64_t line = begin; line < end; ++line) spread_line(args, line, scratch);
}

}  // namespace mica::MICA_ISA
