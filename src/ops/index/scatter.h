// How scattered elements meet those that stand there already.
#pragma once
#include <cmath>
#include <cstring>

#include "ops/index/axis.h"

namespace mica {

enum class Reduction : uint8_t { kNone, kAdd, kMul, kMin, kMax };
inline constexpr std::string_view kReductionNames[] = {"none", "add", "mul", "min", "max"};
constexpr std::span<const std::string_view> names_of(Reduction) { return kReductionNames; }

struct Scatter {
  int64_t axis = 0;
  Reduction reduction = Reduction::kNone;
  template <class V>
  void visit(V&& v) {
    v("axis", axis, "the axis that is indexed");
    v("reduction", reduction, "what is stored where an element stands already");
  }
};
struct ScatterNd {
  Reduction reduction = Reduction::kNone;
  template <class V>
  void visit(V&& v) {
    v("reduction", reduction, "what is stored where an element stands already");
  }
};

inline Status check_reduction(Reduction reduction, DType dtype) {
  const bool number = is_float(dtype) || is_integer(dtype) || dtype == DType::kBool;
  MICA_CHECK(reduction == Reduction::kNone || (number && !is_sub_byte(dtype)), kBadType, "a reducing scatter of {}",
             name_of(dtype));
  return {};
}

// to = to (reduction) from; one element of whole bytes. NaN wins over numbers in min and max.
inline void scatter_one(Reduction reduction, DType dtype, void* to, const void* from) {
  if (reduction == Reduction::kNone) {
    std::memcpy(to, from, static_cast<size_t>(element_bytes(dtype)));
  } else if (is_float(dtype)) {
    const double a = load_number(dtype, to), b = load_number(dtype, from);
    const double lower = std::isnan(a) || a < b ? a : b, higher = std::isnan(a) || a > b ? a : b;
    store_number(dtype, to,
                 reduction == Reduction::kAdd   ? a + b
                 : reduction == Reduction::kMul ? a * b
                 : reduction == Reduction::kMin ? lower
                                                : higher);
  } else {
    const int64_t a = load_int(dtype, to), b = load_int(dtype, from);
    const auto ua = static_cast<uint64_t>(a), ub = static_cast<uint64_t>(b);
    const bool less = kind_of(dtype) == NumberKind::kUnsigned ? ua < ub : a < b;
    if (dtype == DType::kBool) {  // sums and products of truth values are or and and
      store_int(dtype, to, reduction == Reduction::kAdd || reduction == Reduction::kMax ? a | b : a & b);
      return;
    }
    const uint64_t result = reduction == Reduction::kAdd             ? ua + ub
                            : reduction == Reduction::kMul           ? ua * ub
                            : (reduction == Reduction::kMin) == less ? ua
                                                                     : ub;
    store_int(dtype, to, static_cast<int64_t>(result));
  }
}

}  // namespace mica
