#pragma once
#include "types/attr.h"

namespace mica {

enum class ReduceKind : uint8_t { kSum, kMean, kMax, kMin, kProd, kL1, kL2, kLogSum, kLogSumExp, kSumSquare };
inline constexpr std::string_view kReduceKindNames[] = {"sum", "mean", "max",     "min",         "prod",
                                                        "l1",  "l2",   "log_sum", "log_sum_exp", "sum_square"};
constexpr std::span<const std::string_view> names_of(ReduceKind) { return kReduceKindNames; }

// Inputs: x; axes (i64, optional: all axes, or none when `keep_when_empty`).
struct Reduce {
  ReduceKind kind = ReduceKind::kSum;
  bool keep_dims = true;
  bool keep_when_empty = false;
  template <class V>
  void visit(V&& v) {
    v("kind", kind, "what is computed over the reduced axes");
    v("keep_dims", keep_dims, "reduced axes stay, with size 1");
    v("keep_when_empty", keep_when_empty, "an empty list of axes reduces none instead of all");
  }
};

}  // namespace mica
