#pragma once
#include "base/half.h"
#include "types/attr.h"

namespace mica {

inline constexpr std::string_view kE8m0RoundNames[] = {"up", "down", "nearest"};
constexpr std::span<const std::string_view> names_of(E8m0Round) { return kE8m0RoundNames; }

struct Cast {
  DType to = DType::kF32;
  bool saturate = true;
  E8m0Round round_mode = E8m0Round::kUp;
  template <class V>
  void visit(V&& v) {
    v("to", to, "element type of the result");
    v("saturate", saturate, "float8 results: numbers beyond the largest become the largest, not infinity or NaN");
    v("round_mode", round_mode, "how f8e8m0 results round");
  }
};

}  // namespace mica
