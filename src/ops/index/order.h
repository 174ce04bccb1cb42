// A total order of elements of any type: numbers by value with NaN above all, strings by bytes.
#pragma once
#include <cmath>

#include "types/operand.h"

namespace mica {

inline int compare_numbers(double a, double b) {
  if (std::isnan(a) || std::isnan(b)) return static_cast<int>(std::isnan(a)) - static_cast<int>(std::isnan(b));
  return (a > b) - (a < b);
}

// < 0, 0 or > 0. Types of whole bytes.
inline int compare_elements(DType dtype, const void* a, const void* b) {
  if (dtype == DType::kString) {
    const int order = static_cast<const StringRef*>(a)->view().compare(static_cast<const StringRef*>(b)->view());
    return (order > 0) - (order < 0);
  }
  if (is_float(dtype)) return compare_numbers(load_number(dtype, a), load_number(dtype, b));
  const int64_t x = load_int(dtype, a), y = load_int(dtype, b);
  if (kind_of(dtype) == NumberKind::kUnsigned)
    return (static_cast<uint64_t>(x) > static_cast<uint64_t>(y)) -
           (static_cast<uint64_t>(x) < static_cast<uint64_t>(y));
  return (x > y) - (x < y);
}

}  // namespace mica
