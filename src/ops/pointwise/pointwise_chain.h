#pragma once
#include "types/attr.h"

namespace mica {

inline constexpr size_t kMaxChainLinks = 16;

// value = input 0; then for each link: value = function(value), or of value and input `operands[i]`, in the other order
// when `swapped[i]`. Functions are numbered as Pointwise is. Bytes as input 0 count as the numbers that they are, of
// type f32; a result of bytes is the cast of such numbers.
struct PointwiseChain {
  DType to = DType::kNone;
  Ints functions, operands, swapped;
  Floats a, b;
  template <class V>
  void visit(V&& v) {
    v("to", to, "element type of the result, u8 or i8; none: that of the numbers");
    v("functions", functions, "Pointwise functions in order");
    v("operands", operands, "input of each function's second argument, -1 without one");
    v("swapped", swapped, "1 where the running value is the second argument");
    v("a", a, "first parameter of each function");
    v("b", b, "second parameter of each function");
  }
};

}  // namespace mica
