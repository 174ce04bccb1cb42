// Normalisations of f32 rows: layer, root-mean-square, instance and group normalisation, and local response
// normalisation.
#pragma once
#include <stdint.h>

#include "base/isa.h"

namespace mica {

// A row is `runs` runs of `n` neighbouring elements, `run_stride` floats apart. Row r begins at row_offset(r) of both
// tensors.
//   y = (x - mean) / sqrt(variance + epsilon) · scale + bias, or without mean: x / sqrt(mean square + epsilon) · scale
//   + bias
// Scale and bias (null: 1 and 0) have a number per element of the row (`per_element`), or per run.
struct NormArgs {
  bool center = true, per_element = true;
  float epsilon = 0;
  int64_t rows = 0, runs = 1, n = 0;
  // Rows as batch × groups.
  int64_t groups = 1;
  int64_t in_batch = 0, in_group = 0, in_run = 0, out_batch = 0, out_group = 0, out_run = 0;
  int64_t parameters_per_group = 0;  // per run: group g's numbers begin here times g
  // Not 0: runs are channels, which are neighbours; from pixel to pixel of their n it is so many floats, and groups,
  // scale and bias come channel by channel. Always about the mean.
  int64_t in_pixel = 0, out_pixel = 0;
  int64_t row_block = 1, tasks = 0;
};
// Where in_pixel is not 0, a task is so many groups of a picture that their channels fill a line of the cache.
inline constexpr int64_t kNormLine = 16;
void prepare_norm(NormArgs& args);

struct NormOperands {
  const float *x, *scale, *bias;
  float *y, *mean, *deviation;  // the last two, one number per row, may be null; deviation gets 1 / sqrt(...)
};

// y = x / (bias + alpha / size · sum of squares of the channels c - before ... c + behind) ^ beta; strides in floats,
// of NHWC pixels (channel stride 1) or of planes (pixel stride 1).
struct LrnArgs {
  int64_t before = 0, behind = 0, channels = 0, pixels = 0, images = 0;
  float factor = 0, beta = 0, bias = 0;
  int64_t in_image = 0, in_channel = 0, in_pixel = 0, out_image = 0, out_channel = 0, out_pixel = 0;
  int64_t tasks = 0;
};

struct NormKernels {
  void (*norm)(const NormArgs& args, const NormOperands& operands, int64_t begin, int64_t end);
  void (*lrn)(const LrnArgs& args, const float* x, float* y, int64_t begin, int64_t end);
};
const NormKernels& norm_kernels(Isa isa);

}  // namespace mica
