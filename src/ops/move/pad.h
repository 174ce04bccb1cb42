#pragma once
#include "types/operand.h"

namespace mica {

enum class PadMode : uint8_t { kConstant, kReflect, kEdge, kWrap };
inline constexpr std::string_view kPadModeNames[] = {"constant", "reflect", "edge", "wrap"};
constexpr std::span<const std::string_view> names_of(PadMode) { return kPadModeNames; }

struct Pad {
  PadMode mode = PadMode::kConstant;
  template <class V>
  void visit(V&& v) {
    v("mode", mode, "what stands outside of the input");
  }
};

struct Padding {
  int64_t before[kMaxRank] = {}, after[kMaxRank] = {};
};
// The lists of a pad's operands, by axis of a tensor of `rank`; `axes` is null when left out. Errors: kBadShape,
// kBadAttribute.
Result<Padding> read_padding(const TensorView& pads, const TensorView* axes, int rank);

// The input element that stands at place `i - before` of an axis of `size` > 0 elements; -1 for the constant.
inline int64_t padded_source(PadMode mode, int64_t i, int64_t size) {
  if (i >= 0 && i < size) return i;
  switch (mode) {
    case PadMode::kConstant: return -1;
    case PadMode::kEdge: return i < 0 ? 0 : size - 1;
    case PadMode::kWrap: return (i % size + size) % size;
    case PadMode::kReflect: break;
  }
  if (size == 1) return 0;
  const int64_t period = 2 * (size - 1), at = (i % period + period) % period;
  return at < size ? at : period - at;
}

}  // namespace mica
