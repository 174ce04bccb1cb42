// Names of the forms that constant operands are packed into. A form is a kind (from kernels/pack) and its parameters;
// equal keys mean equal bytes, so that packed weights in a file serve every machine that asks for the same key.
#pragma once
#include <array>
#include <cstdint>

namespace mica {

struct PackKey {
  uint32_t kind = 0;  // 0: plain, dense, source order
  std::array<int64_t, 6> parameters{};
  bool operator==(const PackKey&) const = default;
};

}  // namespace mica
