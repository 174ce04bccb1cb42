// What a product does with a tile of results before it leaves the first-level cache.
//
//   x = sum + bias;  x = x + residual (unless residual_last);  x = activation(x);  x = x + residual (if residual_last);
//   finish(tile)
//
// NaN passes through every step.
#pragma once
#include <stdint.h>

namespace mica {

enum class Activation : uint8_t {
  kNone,
  kClip,         // min(max(x, a), b); Relu is a = 0, b = inf
  kLeakyRelu,    // x < 0 ? a·x : x
  kHardSigmoid,  // min(max(a·x + b, 0), 1)
  kHardSwish,    // x · min(max(x/6 + 1/2, 0), 1)
  kSigmoid,      // 1 / (1 + exp(-x))
  kSilu,         // x / (1 + exp(-a·x))
  kTanh,
  kGelu,  // x/2 · (1 + erf(x/√2))
};

// Called with a finished rectangle of C: `c` is its first element, `row` and `column` its place in the whole C. For a
// convolution a row is an output pixel, counted through the whole batch.
using FinishFn = void (*)(const void* context, float* c, int64_t c_stride, int64_t row, int64_t column, int64_t rows,
                          int64_t columns);

struct GemmEpilogue {
  const float* bias = nullptr;      // one for each column, or null
  const float* residual = nullptr;  // laid out as C with strides of its own, or null; may be
                                    // C itself when K is not cut into blocks
  int64_t residual_stride = 0;      // floats from row to row
  bool residual_last = false;
  Activation activation = Activation::kNone;
  float a = 0.0f, b = 0.0f;
  FinishFn finish = nullptr;
  const void* finish_context = nullptr;
};

}  // namespace mica
