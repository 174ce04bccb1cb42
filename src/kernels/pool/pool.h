// Pooling over up to three spatial axes, fp32, channels innermost, vectors over channels. A global pooling is one whose
// kernel is the whole input.
//
// Maximum: NaN in a window gives NaN; a window without a pixel gives -inf. Sums run along a row first, then over rows,
// then over depths, or over columns first, then along the row (large windows, and lines): the error of a large window
// grows with its sides and not with its area.
#pragma once
#include <stddef.h>
#include <stdint.h>

#include "base/parts.h"

namespace mica {

enum class Isa : uint8_t;

enum class PoolKind : uint8_t {
  kMax,
  kAverage,  // divides by the window's pixels inside the input, or inside the padded input with count_padding
  kL1,       // Σ|x|
  kL2,       // √Σx²
};

// Whether an operator of this build makes the kind; trimmed builds lack the others (base/parts.h).
constexpr bool has_pool(PoolKind kind) {
  constexpr bool kMax = has_part("operator", "max_pool") || has_part("operator", "global_max_pool");
  constexpr bool kAverage = has_part("operator", "average_pool") || has_part("operator", "global_average_pool");
  constexpr bool kNorms = has_part("operator", "lp_pool") || has_part("operator", "global_lp_pool");
  return kind == PoolKind::kMax ? kMax : kind == PoolKind::kAverage ? kAverage : kNorms;
}

// Axes are depth, height, width. Strides are floats from one image, depth, row or pixel to the next; channels are
// adjacent.
struct PoolView {
  int64_t image = 0, depth = 0, row = 0, pixel = 0;
};
struct PoolProblem {
  PoolKind kind = PoolKind::kMax;
  int64_t images = 1, channels = 1;
  int64_t in[3] = {1, 1, 1}, out[3] = {1, 1, 1};
  int64_t kernel[3] = {1, 1, 1}, stride[3] = {1, 1, 1}, dilation[3] = {1, 1, 1};
  int64_t pad[3] = {0, 0, 0}, pad_after[3] = {0, 0, 0};
  bool count_padding = false;
  PoolView in_view, out_view;
};

// Pixels between the first and behind the last tap of a row.
int64_t reach_of(const PoolProblem& problem);

// Whether maxima and averages that are not of the whole input are made by this build.
constexpr bool kWithWindows = has_part("operator", "max_pool") || has_part("operator", "average_pool");

// Rows as lines of numbers: maxima and averages of few dense channels, planes among them (as images of one channel).
constexpr int64_t kMostLine = 4096;                                    // floats of a line that are looked at together
constexpr int64_t kMostLineChannels = 128, kMostStridedChannels = 32;  // of more, taps alone cost less
bool suits_lines(const PoolProblem& problem);

// Whether planes, as images of one channel, are better off as they are than turned: where rows are long.
bool suits_planes(const PoolProblem& problem);

// A task is some output rows of some channels.
struct PoolChoice {
  bool lines = false;
  int64_t row_block = 0, channel_block = 0, tasks = 0;
};
// Pure; a result does not depend on it.
PoolChoice choose_pool(const PoolProblem& problem, int threads);
// "max 1x112x112x64 -> 56x56 kernel=1x3x3 lines=0 tasks=4"; returns the length, writes at most size.
size_t print(const PoolProblem& problem, const PoolChoice& choice, char* out, size_t size);

struct PoolArgs {
  PoolProblem problem;
  PoolChoice choice;
  const float* x = nullptr;
  float* y = nullptr;
};

struct PoolKernels {
  void (*run)(const PoolArgs& args, int64_t task_begin, int64_t task_end);  // needs no scratch
};
const PoolKernels& pool_kernels(Isa isa);

}  // namespace mica
