// Convolution of a picture's bytes: the input rows of a few output lines become floats, with zeros around them, and the
// tiles of planes read these. Included by conv.isa.cc.
//
// The floats lie as the bytes do, pixels or planes, so that nothing is turned; they stay in the first-level cache.
#pragma once
#include "kernels/conv/planes.inl"

namespace mica::MICA_ISA {

// One scale and one shift for each lane, again and again after `period` floats.
struct PixelScales {
  const float *scale, *shift;
  int64_t period;
};

MICA_INLINE void convert_pixels(const uint8_t* in, PixelType type, const PixelScales& s, int64_t n, float* out) {
  const bool is_signed = type == PixelType::kI8;
  int64_t i = 0, k = 0;
  for (; i + kLanes <= n; i += kLanes) {
    const I32 x = is_signed ? load_i8(reinterpret_cast<const int8_t*>(in + i)) : load_u8(in + i);
    store(out + i, fma(to_f32(x), load(s.scale + k), load(s.shift + k)));
    k = k + kLanes == s.period ? 0 : k + kLanes;
  }
  const int rest = static_cast<int>(n - i);
  if (rest == 0) return;
  const I32 x =
      is_signed ? load_i8_partial(reinterpret_cast<const int8_t*>(in + i), rest) : load_u8_partial(in + i, rest);
  store_partial(out + i, fma(to_f32(x), load(s.scale + k), load(s.shift + k)), rest);
}

// Bytes that do not lie side by side are brought together first.
MICA_INLINE void convert_apart(const uint8_t* in, int64_t step, PixelType type, const PixelScales& s, int64_t n,
                               float* out) {
  uint8_t together[kLanes];
  for (int64_t i = 0; i < n; i += kLanes) {
    const int64_t count = n - i < kLanes ? n - i : kLanes;
    for (int64_t k = 0; k < count; ++k) together[k] = in[(i + k) * step];
    convert_pixels(together, type, s, count, out + i);
  }
}

// The rows of floats: `runs` of them beside each other, one for each channel or one for all, whose pixels have `unit`
// floats.
struct PixelBand {
  float *scale, *shift, *rows;
  int64_t runs, unit, columns, row;  // columns: pixels of a padded row; row: floats of one
};

MICA_INLINE PixelBand pixel_band(const ConvArgs& args, float* scratch) {
  const ConvProblem& p = args.problem;
  const int64_t channels = p.in_channels, depth = p.kernel[1] * p.kernel[2] * channels;
  const bool side_by_side = p.in_view.channel == 1 && p.in_view.pixel == channels;
  PixelBand b{.scale = scratch + 4 * depth,
              .runs = side_by_side ? 1 : channels,
              .unit = side_by_side ? channels : 1,
              .columns = args.choice.segment_k};
  b.shift = b.scale + channels * kLanes;
  b.rows = b.shift + channels * kLanes;
  b.row = b.columns * channels;
  for (int64_t i = 0; i < channels * kLanes; ++i) {
    const int64_t channel = side_by_side ? i % channels : i / kLanes;
    b.scale[i] = args.scale[channel];
    b.shift[i] = args.shift[channel];
  }
  return b;
}

// Input row y of an image, which may lie outside.
MICA_INLINE void fill_row(const ConvArgs& args, const PixelBand& b, int64_t image, int64_t y, float* out) {
  const ConvProblem& p = args.problem;
  const ConvView& v = p.in_view;
  const auto within = [&](int64_t i) { return i < 0 ? 0 : i > b.columns ? b.columns : i; };
  const int64_t begin = within(p.pad[2]), end = within(p.in[2] + p.pad[2]);
  if (!inside(y, p.in[1]) || begin >= end) return zero_floats(out, b.row);
  const uint8_t* in = args.pixels + image * v.image + y * v.row + (begin - p.pad[2]) * v.pixel;
  const int64_t count = (end - begin) * b.unit;
  for (int64_t run = 0; run < b.runs; ++run, in += v.channel, out += b.columns * b.unit) {
    const PixelScales scales{b.scale + run * kLanes, b.shift + run * kLanes, b.unit * kLanes};
    zero_floats(out, begin * b.unit);
    if (b.unit > 1 || v.pixel == 1)
      convert_pixels(in, p.pixels, scales, count, out + begin * b.unit);
    else
      convert_apart(in, v.pixel, p.pixels, scales, count, out + begin);
    zero_floats(out + end * b.unit, (b.columns - end) * b.unit);
  }
}

void run_pixel_task(const ConvArgs& args, int64_t task, float* scratch) {
  const ConvProblem& p = args.problem;
  const PixelBand b = pixel_band(args, scratch);
  // The convolution of a band: no tile leaves it.
  ConvArgs band = args;
  band.x = b.rows;
  band.problem.in_view = {.row = b.row, .pixel = b.unit, .channel = b.unit > 1 ? 1 : b.columns};
  band.problem.in[2] = b.columns;
  band.problem.pad[2] = 0;
  const PlaneScratch s = plane_scratch(band.problem, args.choice, scratch);
  const int64_t span = (p.kernel[1] - 1) * p.dilation[1] + 1, lines = p.images * p.out[1];
  const int64_t begin = task * args.choice.tile_block;
  const int64_t end = begin + args.choice.tile_block < lines ? begin + args.choice.tile_block : lines;
  for (int64_t line = begin; line < end;) {
    const int64_t image = line / p.out[1], y = line % p.out[1],
                  left = p.out[1] - y < end - line ? p.out[1] - y : end - line;
    const int64_t count = left < args.choice.band_rows ? left : args.choice.band_rows;
    const int64_t rows = (count - 1) * p.stride[1] + span, first = y * p.stride[1];
    for (int64_t r = 0; r < rows; ++r) fill_row(args, b, image, first - p.pad[1] + r, b.rows + r * b.row);
    band.problem.in[1] = rows;
    band.problem.pad[1] = first;
    plane_lines(band, s, line, line + count);
    line += count;
  }
}

}  // namespace mica::MICA_ISA
