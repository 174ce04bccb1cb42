// Element-wise work on other types than floats alone: comparisons, selection, conversions, integer arithmetic,
// quantization. Each kernel is a function of one row; loops around it and broadcasting are the same for all.
#pragma once
#include <stdint.h>

#include "base/isa.h"

namespace mica {

inline constexpr int kMaxTypedLoops = 10;
inline constexpr int kMaxTypedInputs = 3;

enum class TypedFunction : uint8_t {
  kEqual,
  kGreater,
  kLess,
  kGreaterOrEqual,
  kLessOrEqual,  // two of one type to bool bytes
  kAdd,
  kSub,
  kMul,
  kMin,
  kMax,
  kAnd,
  kOr,
  kXor,  // integers, modulo their width; kAdd, kSub and kMul also of kF64
  kDiv,  // kF64, kI32, kI64: integers towards zero; by zero 0
  kMod,
  kFmod,     // kI32, kI64: of the sign of y, of x; by zero 0
  kWhere,    // bool, then two of the same width
  kConvert,  // between the types below; to integers towards zero
  kQuantize,
  kDequantize,  // x, scale, zero point
};
// Halves and 16-bit integers are converted only, to and from kF32 (kI16 also to and from kI32 and kI64), and kF64 to
// and from kF32, kI32 and kI64.
enum class TypedElement : uint8_t { kF32, kI32, kI64, kU8, kI8, kBool, kF16, kBF16, kF64, kI16, kU16, kCount };

struct TypedRow {
  const char* in[kMaxTypedInputs];
  int64_t in_stride[kMaxTypedInputs];  // bytes; 0: one element for the whole row
  char* out;
  int64_t out_stride;
};
using TypedRowFn = void (*)(const TypedRow& row, int64_t n);

struct TypedArgs {
  TypedRowFn row = nullptr;
  int inputs = 0;
  int loops = 0;  // the last is the row
  int64_t dims[kMaxTypedLoops] = {};
  int64_t in[kMaxTypedInputs][kMaxTypedLoops] = {}, out[kMaxTypedLoops] = {};  // byte strides
  int slot[kMaxTypedInputs] = {}, out_slot = 0;
  int64_t row_block = 1, tasks = 0;
};
// Merges and orders loops by the output's addresses and cuts rows into tasks. Rows of a few elements change places with
// a longer loop (kernels/split.h) unless the row function takes `dense_rows` only.
void prepare_typed(TypedArgs& args, bool dense_rows = false);
void run_typed(const TypedArgs& args, void* const* operands, int64_t begin, int64_t end);

struct TypedKernels {
  // Null when there is no such kernel. kConvert: from, to. kQuantize: to is the result's type; kDequantize: from is
  // x's. kWhere: from has the width of the elements.
  TypedRowFn (*find)(TypedFunction function, TypedElement from, TypedElement to);
};
const TypedKernels& typed_kernels(Isa isa);

}  // namespace mica
