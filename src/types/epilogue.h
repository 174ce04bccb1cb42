// Element-wise work that a stage does on its results before it stores them.
#pragma once
#include "types/pointwise.h"

namespace mica {

// One function of the result; binary functions take their second operand from the stage's input `operand`.
struct PostOp {
  Pointwise function = Pointwise::kNone;
  int8_t operand = -1;   // an index into the stage's inputs, or -1
  bool swapped = false;  // the result is the function's second operand
  float a = 0, b = 0;
};

inline constexpr int kMaxPostOps = 6;
struct Epilogue {
  int count = 0;
  PostOp ops[kMaxPostOps] = {};
};

}  // namespace mica
