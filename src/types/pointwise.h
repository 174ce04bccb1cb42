// Scalar functions that act element by element: one list for element-wise operators, for epilogues and for fused
// chains.
#pragma once
#include <cstdint>
#include <string_view>

namespace mica {

enum class Pointwise : uint8_t {
  kNone,
  // of x; a and b are parameters
  kIdentity,
  kNeg,
  kAbs,
  kSign,
  kSquare,
  kReciprocal,
  kSqrt,
  kRsqrt,
  kExp,
  kLog,
  kErf,
  kSigmoid,
  kTanh,
  kRelu,
  kLeakyRelu /* a */,
  kElu /* a */,
  kSelu /* a, b */,
  kCelu /* a */,
  kHardSigmoid /* a, b */,
  kHardSwish,
  kSoftplus,
  kSoftsign,
  kGelu,
  kGeluTanh,
  kSilu /* x·sigmoid(a·x) */,
  kMish,
  kThresholdedRelu /* a */,
  kShrink /* lambda a, bias b */,
  kClip /* a, b */,
  kFloor,
  kCeil,
  kRound /* half to even */,
  kSin,
  kCos,
  kTan,
  kAsin,
  kAcos,
  kAtan,
  kSinh,
  kCosh,
  kAsinh,
  kAcosh,
  kAtanh,
  kAffine /* a·x + b */,
  // of x and y
  kAdd,
  kSub,
  kMul,
  kDiv,
  kMin,
  kMax,
  kPow,
  kMod /* sign of y */,
  kFmod /* sign of x */,
  kPrelu /* slope y */,
};
inline constexpr int kPointwiseCount = static_cast<int>(Pointwise::kPrelu) + 1;

struct PointwiseInfo {
  std::string_view name;
  uint8_t inputs;      // 1 or 2
  uint8_t parameters;  // how many of a, b it reads
};
const PointwiseInfo& info_of(Pointwise f);
// Whether this build's kernels have the function: trimmed ones have those that their models name (base/parts.h).
bool in_build(Pointwise f);

// The truth that kernels are held against; NaN propagates through min, max and clip.
double apply(Pointwise f, double x, double y, float a, float b);
// The same in integers, modulo 2^64; division by zero gives 0 and rounds towards zero. Only functions that have an
// integer meaning; the rest go through the doubles.
int64_t apply_int(Pointwise f, int64_t x, int64_t y, bool is_unsigned);
bool has_int_form(Pointwise f);

}  // namespace mica
