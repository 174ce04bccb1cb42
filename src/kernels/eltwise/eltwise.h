// Element-wise chains: a value is read, goes through up to 16 functions with or without second operands, and is
// written, tile by tile in the first-level cache. One element-wise operator is a chain of one; the post-operations of a
// stage are a chain in place.
//
// Numbers only: dimensions and strides are those of the common (broadcast) shape, strides in elements, 0 along an axis
// that an operand lacks. Elements are f32, f16 or bf16, those that a chain begins or ends with also bytes; arithmetic
// is f32.
#pragma once
#include <stdint.h>

#include "base/isa.h"
#include "base/parts.h"
#include "types/pointwise.h"

namespace mica {

inline constexpr int kMaxChainSteps = 16;
inline constexpr int kMaxChainLoops = 10;
inline constexpr int kMaxChainPeriods = 8;   // operands with a period
inline constexpr int64_t kChainTile = 1024;  // floats: with an operand beside it a quarter of a first-level cache

inline constexpr bool kWithByteChains = has_part("bytes", "1"), kWithHalfChains = has_part("bytes", "2");
enum class ChainType : uint8_t { kF32, kF16, kBf16, kU8, kI8 };

struct ChainOperand {
  int16_t slot = 0;  // index into the kernel's operands
  ChainType type = ChainType::kF32;
  int64_t strides[kMaxChainLoops] = {};
  int64_t period = 0;  // not 0: so many adjacent elements again and again along the inner loop
};

struct ChainStep {
  Pointwise function = Pointwise::kIdentity;
  bool swapped = false;  // binary: the running value is the second argument
  float a = 0, b = 0;
  ChainOperand operand;  // of binary functions
};

struct ChainArgs {
  int loops = 0;  // the last is the inner one; prepared by `prepare_chain`
  int64_t dims[kMaxChainLoops] = {};
  ChainOperand in, out;
  int count = 0;
  ChainStep steps[kMaxChainSteps];
  int64_t all_rows = 1;                                     // of the inner loop
  int64_t row_block = 1, chunk = 0, chunks = 0, tasks = 0;  // rows, and pieces of one, per task
  int64_t rows = 1, columns = kChainTile;                   // of what goes through all functions at a time
};

// Merges and orders the loops by out's addresses, and cuts the work into tasks. Results never depend on the cut.
void prepare_chain(ChainArgs& args);

struct EltwiseKernels {
  // Tasks begin ... end - 1.
  void (*run)(const ChainArgs& args, void* const* operands, int64_t begin, int64_t end);
  // One function over n contiguous floats (y: second argument, or null).
  void (*apply)(Pointwise f, const float* x, const float* y, float* out, int64_t n, float a, float b);
};
const EltwiseKernels& eltwise_kernels(Isa isa);

}  // namespace mica
