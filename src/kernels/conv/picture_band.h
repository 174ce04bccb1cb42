// Copies of a picture's rows, and how tiles find their way in them: what conv/planes.inl shares between sets, and what
// the choice of a convolution knows of it.
#pragma once
#include "base/integers.h"
#include "kernels/conv/conv.h"

namespace mica {

// Whether the channels of each pixel are neighbours, so that a row is one run instead of one for each channel.
inline bool has_adjacent_channels(const ConvProblem& p) {
  return p.in_view.channel == 1 && p.in_view.pixel == p.in_channels;
}
// Floats in front of a run's padding that have the picture's own begin at a whole vector.
inline int64_t run_lead(const ConvProblem& p) {
  const int64_t padding = p.pad[2] * (has_adjacent_channels(p) ? p.in_channels : 1);
  return (16 - padding % 16) % 16;
}
// Input rows under so many output lines.
inline int64_t band_height(const ConvProblem& p, int64_t lines) {
  return (lines - 1) * p.stride[1] + (p.kernel[1] - 1) * p.dilation[1] + 1;
}
// Floats of a worker's scratch in front of the rows: a 64-bit offset for each step of k, and, for bytes, the scales and
// as many shifts.
inline int64_t offset_floats(const ConvProblem& p) {
  return ceil_div(2 * p.kernel[0] * p.kernel[1] * p.kernel[2] * p.in_channels, 16) * 16;
}
inline int64_t scale_floats(const ConvProblem& p) { return has_pixels(p) ? kMostPixelLanes * p.in_channels : 0; }

// The rows of the picture under a few output lines: those of one depth after another, `runs` runs of floats beside each
// other in each, one for each channel or one for all, whose pixels have `unit` floats. The picture's own begin at whole
// vectors.
struct PictureBand {
  int64_t* offsets;      // of each step of k from its tile's first
  float *scale, *shift;  // of bytes: as many vectors as there are channels, of one channel each, or of all in turn
  float* rows;
  int64_t runs, unit, run, row, depth;  // run, row, depth: floats from one to the next
  int64_t begin, end, columns;          // in pixels of a row: the picture's own, and all that tiles read
};

// In a worker's scratch. `pixels`: that tiles compute in a line, also behind its end; `lanes` of a vector.
PictureBand picture_band(const ConvArgs& args, int64_t pixels, int lanes, float* scratch);

}  // namespace mica
