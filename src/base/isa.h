// The instruction sets that kernels are compiled for. Each is one traits header `simd/<name>.h`.
#pragma once
#include <cstdint>
#include <string_view>

namespace mica {

enum class Isa : uint8_t { kPortable, kSse2, kAvx2, kAvx512, kNeon };

constexpr std::string_view name_of(Isa isa) {
  constexpr std::string_view kNames[] = {"portable", "sse2", "avx2", "avx512", "neon"};
  return kNames[static_cast<int>(isa)];
}

}  // namespace mica
