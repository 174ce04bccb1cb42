// How scattered elements meet those that stand there already.
#pragma once
#include <cmath>
#include <cstring>
#include <type_traits>

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

// Whether slices of the updates, one for each index tuple, are what the data holds at such places. Errors: kBadRank,
// kBadShape.
inline Status check_nd_shapes(const TensorView& data, const TensorView& indices, const TensorView& updates) {
  MICA_CHECK(data.rank >= 1 && indices.rank >= 1, kBadRank, "data has rank {}, indices {}; both need 1 or more",
             data.rank, indices.rank);
  const int64_t tuple = indices.dim(indices.rank - 1);
  MICA_CHECK(tuple >= 0 && tuple <= data.rank, kBadShape, "index tuples of {} for rank {}", tuple, data.rank);
  const int outer = indices.rank - 1, inner = data.rank - static_cast<int>(tuple);
  MICA_CHECK(updates.rank == outer + inner, kBadShape, "updates have rank {}, expected {}", updates.rank,
             outer + inner);
  for (int i = 0; i < updates.rank; ++i) {
    const int64_t want = i < outer ? indices.dim(i) : data.dim(static_cast<int>(tuple) + i - outer);
    MICA_CHECK(updates.dim(i) == want, kBadShape, "dimension {} of the updates is {}, expected {}", i, updates.dim(i),
               want);
  }
  return {};
}

// a (reduction) b as `scatter_one` has it, for f32 and integers. Doubles hold a product or sum of two floats well
// enough that rounding twice is rounding once.
template <Reduction reduction, class T>
inline T reduced(T a, T b) {
  if constexpr (reduction == Reduction::kNone) {
    return b;
  } else if constexpr (reduction == Reduction::kMin) {
    return a != a || a < b ? a : b;  // NaN, else the lesser
  } else if constexpr (reduction == Reduction::kMax) {
    return a != a || a > b ? a : b;
  } else if constexpr (std::is_integral_v<T>) {  // sums and products wrap
    const auto ua = static_cast<uint64_t>(a), ub = static_cast<uint64_t>(b);
    return static_cast<T>(reduction == Reduction::kAdd ? ua + ub : ua * ub);
  } else {
    return reduction == Reduction::kAdd ? a + b : a * b;
  }
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
