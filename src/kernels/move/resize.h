// Resampling of planes by tables: each output row is a weighted sum of input rows, each output pixel of pixels of that
// sum; or the nearest pixel of any element size. Channels are innermost (vectors over channels) or one; a source's
// pixels may have gaps behind their channels, those of planes lie side by side. Of several channels the result may have
// planes.
#pragma once
#include <stddef.h>
#include <stdint.h>

namespace mica {

enum class Isa : uint8_t;

// What one axis takes: tap k of output sample i is input sample index[k·out + i] with weight[k·out + i].
struct ResampleAxis {
  int64_t in = 1, out = 1, taps = 1;
  const int32_t* index = nullptr;
  const float* weight = nullptr;
};

// Strides are in elements. A task is one output row: `groups` · `planes` · rows.out of them.
struct ResampleProblem {
  int64_t groups = 1, group_in = 0, group_out = 0;
  int64_t planes = 1, plane_in = 0, plane_out = 0;
  int64_t channels = 1;
  int64_t row_in = 0, row_out = 0, pixel_in = 1, pixel_out = 1, channel_out = 1;
  ResampleAxis rows, columns;
};

// Floats of scratch that `linear` needs per worker: a row, and a vector that may be read behind it.
inline int64_t resample_scratch(const ResampleProblem& p) { return p.columns.in * p.pixel_in + 16; }

struct ResampleKernels {
  // fp32, any number of taps. Products are added tap by tap, rows first. Pixels of planes (channel_out != 1) are dense.
  void (*linear)(const ResampleProblem& p, const float* x, float* y, float* scratch, int64_t task_begin,
                 int64_t task_end);
};
const ResampleKernels& resample_kernels(Isa isa);

// One tap an axis, without weights; elements of `element` bytes. Channels lie in the result as in the source.
void resample_nearest(const ResampleProblem& p, int64_t element, const char* x, char* y, int64_t task_begin,
                      int64_t task_end);

}  // namespace mica
