#include "kernels/conv/picture_band.h"

namespace mica {
namespace {

void fill_offsets(const ConvProblem& p, const PictureBand& b) {
  const int64_t apart = b.runs > 1 ? b.run : 1;
  int64_t* offset = b.offsets;
  for (int64_t z = 0; z < p.kernel[0]; ++z)
    for (int64_t y = 0; y < p.kernel[1]; ++y)
      for (int64_t x = 0; x < p.kernel[2]; ++x)
        for (int64_t channel = 0; channel < p.in_channels; ++channel)
          *offset++ = z * b.depth + y * p.dilation[1] * b.row + x * p.dilation[2] * b.unit + channel * apart;
}

void fill_scales(const ConvArgs& args, int lanes, const PictureBand& b) {
  const int64_t channels = args.problem.in_channels;
  for (int64_t i = 0; i < channels * lanes; ++i) {
    const int64_t channel = b.unit > 1 ? i % channels : i / lanes;
    b.scale[i] = args.scale[channel];
    b.shift[i] = args.shift[channel];
  }
}

}  // namespace

PictureBand picture_band(const ConvArgs& args, int64_t pixels, int lanes, float* scratch) {
  const ConvProblem& p = args.problem;
  const bool side_by_side = has_adjacent_channels(p);
  PictureBand b{.offsets = reinterpret_cast<int64_t*>(scratch),
                .scale = scratch + offset_floats(p),
                .runs = side_by_side ? 1 : p.in_channels,
                .unit = side_by_side ? p.in_channels : 1,
                .run = args.choice.segment_k};
  b.shift = b.scale + scale_floats(p);
  b.rows = b.shift + scale_floats(p) + run_lead(p);
  b.row = b.run * b.runs;
  b.depth = band_height(p, args.choice.band_rows) * b.row;
  b.columns = (pixels - 1) * p.stride[2] + (p.kernel[2] - 1) * p.dilation[2] + 1;
  const auto within = [&](int64_t i) { return i < 0 ? 0 : i > b.columns ? b.columns : i; };
  b.begin = within(p.pad[2]);
  b.end = within(p.in[2] + p.pad[2]);
  fill_offsets(p, b);
  if (has_pixels(p)) fill_scales(args, lanes, b);
  return b;
}

}  // namespace mica
