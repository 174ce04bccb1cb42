#include "types/pointwise.h"

#include <array>
#include <cmath>
#include <utility>

#include "types/pointwise_parts.h"

namespace mica {
namespace {

template <int... kIndex>
constexpr std::array<bool, kPointwiseCount> built_functions(std::integer_sequence<int, kIndex...>) {
  return {has_function(static_cast<Pointwise>(kIndex))...};
}
constexpr auto kBuilt = built_functions(std::make_integer_sequence<int, kPointwiseCount>());

double larger(double x, double y) { return std::isnan(x) || std::isnan(y) ? NAN : (x > y ? x : y); }
double smaller(double x, double y) { return std::isnan(x) || std::isnan(y) ? NAN : (x < y ? x : y); }
double logistic(double x) { return 1.0 / (1.0 + std::exp(-x)); }
double log1p_exp(double x) { return x > 0 ? x + std::log1p(std::exp(-x)) : std::log1p(std::exp(x)); }
double round_even(double x) { return std::nearbyint(x); }
double clamp01(double x) { return smaller(larger(x, 0.0), 1.0); }
double sign_of(double x) { return std::isnan(x) ? x : static_cast<double>((x > 0) - (x < 0)); }
double shrink(double x, double lambda, double bias) {
  return x < -lambda ? x + bias : x > lambda ? x - bias : std::isnan(x) ? x : 0.0;
}
double floor_mod(double x, double y) {
  const double r = std::fmod(x, y);
  return r != 0 && (r < 0) != (y < 0) ? r + y : r;
}

double apply_activation(Pointwise f, double x, double a, double b) {
  switch (f) {
    case Pointwise::kRelu: return larger(x, 0.0);
    case Pointwise::kLeakyRelu: return x < 0 ? a * x : x;
    case Pointwise::kElu: return x < 0 ? a * std::expm1(x) : x;
    case Pointwise::kSelu: return x > 0 ? b * x : b * a * std::expm1(x);
    case Pointwise::kCelu: return larger(x, 0.0) + smaller(0.0, a * std::expm1(x / a));
    case Pointwise::kHardSigmoid: return clamp01(a * x + b);
    case Pointwise::kHardSwish: return x * clamp01(x / 6.0 + 0.5);
    case Pointwise::kSoftplus: return log1p_exp(x);
    case Pointwise::kSoftsign: return x / (1.0 + std::fabs(x));
    case Pointwise::kGelu: return 0.5 * x * (1.0 + std::erf(x * M_SQRT1_2));
    case Pointwise::kGeluTanh: return 0.5 * x * (1.0 + std::tanh(std::sqrt(2.0 / M_PI) * (x + 0.044715 * x * x * x)));
    case Pointwise::kSilu: return x * logistic(a * x);
    case Pointwise::kMish: return x * std::tanh(log1p_exp(x));
    case Pointwise::kThresholdedRelu: return x > a ? x : std::isnan(x) ? x : 0.0;
    case Pointwise::kShrink: return shrink(x, a, b);
    case Pointwise::kClip: return smaller(larger(x, a), b);
    default: return NAN;
  }
}

double apply_math(Pointwise f, double x) {
  switch (f) {
    case Pointwise::kFloor: return std::floor(x);
    case Pointwise::kCeil: return std::ceil(x);
    case Pointwise::kRound: return round_even(x);
    case Pointwise::kSin: return std::sin(x);
    case Pointwise::kCos: return std::cos(x);
    case Pointwise::kTan: return std::tan(x);
    case Pointwise::kAsin: return std::asin(x);
    case Pointwise::kAcos: return std::acos(x);
    case Pointwise::kAtan: return std::atan(x);
    case Pointwise::kSinh: return std::sinh(x);
    case Pointwise::kCosh: return std::cosh(x);
    case Pointwise::kAsinh: return std::asinh(x);
    case Pointwise::kAcosh: return std::acosh(x);
    case Pointwise::kAtanh: return std::atanh(x);
    case Pointwise::kSqrt: return std::sqrt(x);
    case Pointwise::kRsqrt: return 1.0 / std::sqrt(x);
    case Pointwise::kExp: return std::exp(x);
    case Pointwise::kLog: return std::log(x);
    case Pointwise::kErf: return std::erf(x);
    case Pointwise::kSigmoid: return logistic(x);
    case Pointwise::kTanh: return std::tanh(x);
    default: return NAN;
  }
}

}  // namespace

const PointwiseInfo& info_of(Pointwise f) { return kPointwiseInfo[static_cast<int>(f)]; }
bool in_build(Pointwise f) { return kBuilt[static_cast<size_t>(f)]; }

double apply(Pointwise f, double x, double y, float a, float b) {
  switch (f) {
    case Pointwise::kNone:
    case Pointwise::kIdentity: return x;
    case Pointwise::kNeg: return -x;
    case Pointwise::kAbs: return std::fabs(x);
    case Pointwise::kSign: return sign_of(x);
    case Pointwise::kSquare: return x * x;
    case Pointwise::kReciprocal: return 1.0 / x;
    case Pointwise::kAffine: return static_cast<double>(a) * x + static_cast<double>(b);
    case Pointwise::kAdd: return x + y;
    case Pointwise::kSub: return x - y;
    case Pointwise::kMul: return x * y;
    case Pointwise::kDiv: return x / y;
    case Pointwise::kMin: return smaller(x, y);
    case Pointwise::kMax: return larger(x, y);
    case Pointwise::kPow: return std::pow(x, y);
    case Pointwise::kMod: return floor_mod(x, y);
    case Pointwise::kFmod: return std::fmod(x, y);
    case Pointwise::kPrelu: return x < 0 ? x * y : x;
    default: break;
  }
  const bool activation = f >= Pointwise::kRelu && f <= Pointwise::kClip;
  return activation ? apply_activation(f, x, static_cast<double>(a), static_cast<double>(b)) : apply_math(f, x);
}

bool has_int_form(Pointwise f) {
  switch (f) {
    case Pointwise::kIdentity:
    case Pointwise::kNeg:
    case Pointwise::kAbs:
    case Pointwise::kSign:
    case Pointwise::kSquare:
    case Pointwise::kRelu:
    case Pointwise::kFloor:
    case Pointwise::kCeil:
    case Pointwise::kRound:
    case Pointwise::kAdd:
    case Pointwise::kSub:
    case Pointwise::kMul:
    case Pointwise::kDiv:
    case Pointwise::kMin:
    case Pointwise::kMax:
    case Pointwise::kPow:
    case Pointwise::kMod:
    case Pointwise::kFmod:
    case Pointwise::kPrelu: return true;
    default: return false;
  }
}

int64_t apply_int(Pointwise f, int64_t x, int64_t y, bool is_unsigned) {
  const auto ux = static_cast<uint64_t>(x), uy = static_cast<uint64_t>(y);
  const auto wrap = [](uint64_t v) { return static_cast<int64_t>(v); };
  switch (f) {
    case Pointwise::kNeg: return wrap(0 - ux);
    case Pointwise::kAbs: return !is_unsigned && x < 0 ? wrap(0 - ux) : x;
    case Pointwise::kSign: return is_unsigned ? x != 0 : (x > 0) - (x < 0);
    case Pointwise::kSquare: return wrap(ux * ux);
    case Pointwise::kRelu: return !is_unsigned && x < 0 ? 0 : x;
    case Pointwise::kAdd: return wrap(ux + uy);
    case Pointwise::kSub: return wrap(ux - uy);
    case Pointwise::kMul: return wrap(ux * uy);
    case Pointwise::kMin: return is_unsigned ? (ux < uy ? x : y) : (x < y ? x : y);
    case Pointwise::kMax: return is_unsigned ? (ux > uy ? x : y) : (x > y ? x : y);
    case Pointwise::kPrelu: return !is_unsigned && x < 0 ? wrap(ux * uy) : x;
    case Pointwise::kDiv: return y == 0 ? 0 : is_unsigned ? wrap(ux / uy) : y == -1 ? wrap(0 - ux) : x / y;
    case Pointwise::kFmod: return y == 0 ? 0 : is_unsigned ? wrap(ux % uy) : y == -1 ? 0 : x % y;
    case Pointwise::kMod: {
      if (y == 0 || is_unsigned || y == -1) return y == 0 || y == -1 * !is_unsigned ? 0 : wrap(ux % uy);
      const int64_t r = x % y;
      return r != 0 && (r < 0) != (y < 0) ? r + y : r;
    }
    case Pointwise::kPow: {
      if (!is_unsigned && y < 0) return x == 1 ? 1 : x == -1 ? (y % 2 ? -1 : 1) : 0;
      uint64_t result = 1, base = ux;
      for (uint64_t e = uy; e; e >>= 1, base *= base)
        if (e & 1) result *= base;
      return wrap(result);
    }
    default: return x;
  }
}

}  // namespace mica
