#pragma once
#include "types/attr.h"

namespace mica {

enum class WindowKind : uint8_t { kHann, kHamming, kBlackman };
inline constexpr std::string_view kWindowNames[] = {"hann", "hamming", "blackman"};
constexpr std::span<const std::string_view> names_of(WindowKind) { return kWindowNames; }

struct SignalWindow {
  WindowKind kind = WindowKind::kHann;
  bool periodic = true;
  DType dtype = DType::kF32;
  template <class V>
  void visit(V&& v) {
    v("kind", kind, "the family of cosine sums");
    v("periodic", periodic, "one period of a periodic function, else symmetric");
    v("dtype", dtype, "element type");
  }
};

}  // namespace mica
