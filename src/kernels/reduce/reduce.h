// Reductions of f32 and integers: sums and extremes over one run of loops, and softmax along an axis.
//
// A tensor is outer × reduced × lanes: `lanes` neighbouring elements (1 when the innermost loop is reduced) are reduced
// side by side. The order of additions depends on the shape alone, on sets with fused multiply-add: elements are dealt
// to 16 lanes of accumulators in blocks, whose results are combined in a fixed tree, so that an error grows with the
// logarithm of the length.
#pragma once
#include <stdint.h>

#include "base/isa.h"

namespace mica {

inline constexpr int kMaxReduceLoops = 10;
inline constexpr int64_t kLaneBlock = 64;  // lanes of a task: four vectors of the widest set

enum class ReduceFunction : uint8_t { kSum, kMax, kMin, kProd, kSumOfAbs, kSumOfSquares };
// What is done with a reduced number at the end; `scale` multiplies a mean.
enum class ReduceFinish : uint8_t { kNone, kScale, kSqrt, kLog };

struct ReduceArgs {
  ReduceFunction function = ReduceFunction::kSum;
  ReduceFinish finish = ReduceFinish::kNone;
  float scale = 1;
  // Kept loops but the one along the lanes, outermost first; strides in floats.
  int outer_loops = 0;
  int64_t outer[kMaxReduceLoops] = {}, in_outer[kMaxReduceLoops] = {}, out_outer[kMaxReduceLoops] = {};
  // Reduced loops, outermost first. Without lanes the last runs over neighbouring elements, or over any stride.
  int inner_loops = 0;
  int64_t inner[kMaxReduceLoops] = {}, in_inner[kMaxReduceLoops] = {};
  int64_t lanes = 1, out_lane = 1;  // neighbours kept, and their stride in the output
  int64_t lane_blocks = 1, tasks = 0;
};
void prepare_reduce(ReduceArgs& args);  // sets lane_blocks and tasks

inline constexpr int64_t kShortAxis = 8;  // rows of softmax too short for a vector of their own

// Errors, in units of 2^-24, of an element z below the largest, with d = ceil(log2 n) + 26 (or n - 1 where that is
// less), which is how many additions deep the sum is: of softmax (z + ln n + d + 6) times the result, of its logarithm
// 2 z + 4 ln n + d + 2. The difference is off by z, its power by two more, the sum by what its terms are (the mean of z
// by their weights is at most ln n) and by d, quotient and product by one each; the logarithm of the sum, at most
// ln n, by two of itself, and both differences round. Without fused multiply-add a power, and a logarithm, is off by
// one more. Powers below e^-87 and results below the smallest normal number may be 0.
struct SoftmaxArgs {
  bool logarithm = false;
  bool zero_nan = false;  // zeros where the results would be NaN; not of logarithms
  int outer_loops = 0;
  int64_t outer[kMaxReduceLoops] = {}, in_outer[kMaxReduceLoops] = {}, out_outer[kMaxReduceLoops] = {};
  int64_t n = 0, in_stride = 1, out_stride = 1;  // along the axis
  int64_t lanes = 1;                             // neighbours across the axis, next to each other in both tensors
  int64_t lane_blocks = 1, row_block = 1, tasks = 0;
};
void prepare_softmax(SoftmaxArgs& args);

// Where along an axis the largest (or smallest) element stands; NaN is found first.
struct ArgArgs {
  bool smallest = false, last = false;  // of equal elements the last one
  int outer_loops = 0;
  int64_t outer[kMaxReduceLoops] = {}, in_outer[kMaxReduceLoops] = {}, out_outer[kMaxReduceLoops] = {};
  int64_t n = 1, in_stride = 1;     // along the axis; n is 1 to 2^31 - 1
  int64_t lanes = 1, out_lane = 1;  // neighbours across the axis, and their stride in the output
  int64_t lane_blocks = 1, tasks = 0;
};
void prepare_arg(ArgArgs& args);

struct ReduceKernels {
  void (*reduce)(const ReduceArgs& args, const float* in, float* out, int64_t begin, int64_t end);
  void (*softmax)(const SoftmaxArgs& args, const float* in, float* out, int64_t begin, int64_t end);
  void (*arg)(const ArgArgs& args, const float* in, int64_t* out, int64_t begin, int64_t end);
};
const ReduceKernels& reduce_kernels(Isa isa);

// The same of signed integers of 32 or 64 bits, modulo their width; ReduceArgs::finish is not read. Null for functions
// and widths that are not there.
using IntegerReduceFn = void (*)(const ReduceArgs& args, const void* in, void* out, int64_t begin, int64_t end);
IntegerReduceFn integer_reduce(ReduceFunction function, int bits);

}  // namespace mica
