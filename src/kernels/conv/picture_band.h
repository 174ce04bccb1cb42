// Copies of a picture's rows, and how tiles find their way in them: what conv/planes.inl shares between sets.
#pragma once
#include "kernels/conv/conv.h"

namespace mica {

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
