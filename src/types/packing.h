// Names of the forms that constant operands are packed into. A form is a kind (from kernels/pack) and its parameters;
// equal keys mean equal bytes, so that packed weights in a file serve every machine that asks for the same key.
#pragma once
#include <array>
#include <cstdint>

#include "base/parts.h"

namespace mica {

struct PackKey {
  uint32_t kind = 0;  // 0: plain, dense, source order
  std::array<int64_t, 6> parameters{};
  bool operator==(const PackKey&) const = default;
};

// Whether the build has kernels for whose weights there is a choice of forms of several sizes.
inline constexpr bool kWithForms = has_part_like("kernel", "conv_f32_winograd") ||
                                   has_part_like("kernel", "conv_f32_strassen") ||
                                   has_part_like("kernel", "gemm_f32_strassen");

}  // namespace mica
