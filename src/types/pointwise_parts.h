// The functions of types/pointwise.h while compiling: their names, and which of them a trimmed build has.
#pragma once
#include "base/parts.h"
#include "types/pointwise.h"

namespace mica {

inline constexpr PointwiseInfo kPointwiseInfo[kPointwiseCount] = {
    {"none", 0, 0},       {"identity", 1, 0}, {"neg", 1, 0},        {"abs", 1, 0},
    {"sign", 1, 0},       {"square", 1, 0},   {"reciprocal", 1, 0}, {"sqrt", 1, 0},
    {"rsqrt", 1, 0},      {"exp", 1, 0},      {"log", 1, 0},        {"erf", 1, 0},
    {"sigmoid", 1, 0},    {"tanh", 1, 0},     {"relu", 1, 0},       {"leaky_relu", 1, 1},
    {"elu", 1, 1},        {"selu", 1, 2},     {"celu", 1, 1},       {"hard_sigmoid", 1, 2},
    {"hard_swish", 1, 0}, {"softplus", 1, 0}, {"softsign", 1, 0},   {"gelu", 1, 0},
    {"gelu_tanh", 1, 0},  {"silu", 1, 1},     {"mish", 1, 0},       {"thresholded_relu", 1, 1},
    {"shrink", 1, 2},     {"clip", 1, 2},     {"floor", 1, 0},      {"ceil", 1, 0},
    {"round", 1, 0},      {"sin", 1, 0},      {"cos", 1, 0},        {"tan", 1, 0},
    {"asin", 1, 0},       {"acos", 1, 0},     {"atan", 1, 0},       {"sinh", 1, 0},
    {"cosh", 1, 0},       {"asinh", 1, 0},    {"acosh", 1, 0},      {"atanh", 1, 0},
    {"affine", 1, 2},     {"add", 2, 0},      {"sub", 2, 0},        {"mul", 2, 0},
    {"div", 2, 0},        {"min", 2, 0},      {"max", 2, 0},        {"pow", 2, 0},
    {"mod", 2, 0},        {"fmod", 2, 0},     {"prelu", 2, 0},
};

// Whether kernels have the function: some list names it or its operator, or an operator whose hook takes it instead.
// The reference has all of them.
constexpr bool has_function(Pointwise f) {
  const std::string_view name = kPointwiseInfo[static_cast<int>(f)].name;
  switch (f) {
    case Pointwise::kNone:
    case Pointwise::kIdentity: return true;  // a chain without functions is a copy
    case Pointwise::kSquare:
    case Pointwise::kReciprocal:  // powers of a known number
      if (has_part("operator", "pow") || has_part("function", "pow")) return true;
      break;
    case Pointwise::kMul:
    case Pointwise::kAdd:  // a factor and a shift for each channel
      if (has_part("operator", "batch_norm")) return true;
      break;
    default: break;
  }
  return has_part("operator", name) || has_part("function", name);
}

}  // namespace mica
