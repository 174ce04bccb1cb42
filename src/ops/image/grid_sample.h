#pragma once
#include "kernels/move/grid.h"
#include "types/attr.h"

namespace mica {

inline constexpr std::string_view kGridModeNames[] = {"linear", "nearest", "cubic"};
constexpr std::span<const std::string_view> names_of(GridMode) { return kGridModeNames; }

inline constexpr std::string_view kGridPaddingNames[] = {"zeros", "border", "reflection"};
constexpr std::span<const std::string_view> names_of(GridPadding) { return kGridPaddingNames; }

struct GridSample {
  GridMode mode = GridMode::kLinear;
  GridPadding padding = GridPadding::kZeros;
  bool align_corners = false;
  template <class V>
  void visit(V&& v) {
    v("mode", mode, "how values between samples are made");
    v("padding", padding, "what stands outside of the input");
    v("align_corners", align_corners, "-1 and 1 are the middles of the corner elements, else their outer edges");
  }
};

}  // namespace mica
