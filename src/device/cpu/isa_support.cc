#include "device/cpu/isa_support.h"

#include <cstdlib>

#if defined(__x86_64__) || defined(__i386__)
#include <cpuid.h>
#endif

#include "mica_isas.inc"

namespace mica {
namespace {

// From the best to the plainest; portable runs everywhere.
constexpr Isa kPreference[] = {Isa::kAvx512, Isa::kAvx2, Isa::kNeon, Isa::kSse2, Isa::kPortable};

bool is_built(Isa isa) {
#define MICA_IS_BUILT(name) \
  if (name_of(isa) == #name) return true;
  MICA_FOREACH_ISA(MICA_IS_BUILT)
#undef MICA_IS_BUILT
  return false;
}

#if defined(__x86_64__) || defined(__i386__)
// What the processor has and the operating system saves. The compiler's run-time library would ask too, but it knows
// every processor there ever was, which takes 5 KB.
struct Features {
  bool sse2 = false, avx2 = false, avx512 = false;
};

// Which registers the operating system saves, by bits: 1 vectors of 128 bits, 2 of 256, 5 to 7 masks and those of 512.
uint64_t saved_registers() {
  uint32_t low = 0, high = 0;
  __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  return static_cast<uint64_t>(high) << 32 | low;
}

Features features() {
  constexpr uint32_t kSse2 = 1u << 26;                                                // leaf 1, EDX
  constexpr uint32_t kFma = 1u << 12, kSaves = 1u << 27, kF16c = 1u << 29;            // leaf 1, ECX
  constexpr uint32_t kAvx2 = 1u << 5;                                                 // leaf 7, EBX
  constexpr uint32_t kAvx512 = 1u << 16 | 1u << 17 | 1u << 28 | 1u << 30 | 1u << 31;  // F, DQ, CD, BW, VL
  constexpr uint32_t kVnni = 1u << 11;                                                // leaf 7, ECX
  constexpr uint64_t kVectors = 1u << 1 | 1u << 2, kWide = kVectors | 1u << 5 | 1u << 6 | 1u << 7;
  Features f;
  unsigned eax = 0, ebx = 0, ecx = 0, edx = 0;
  if (!__get_cpuid(1, &eax, &ebx, &ecx, &edx)) return f;
  f.sse2 = (edx & kSse2) != 0;
  const bool fused = (ecx & kFma) && (ecx & kF16c) && (ecx & kSaves);
  if (!fused || !__get_cpuid_count(7, 0, &eax, &ebx, &ecx, &edx)) return f;
  const uint64_t saved = saved_registers();
  f.avx2 = (saved & kVectors) == kVectors && (ebx & kAvx2);
  const bool wide = (saved & kWide) == kWide && (ebx & kAvx512) == kAvx512 && (ecx & kVnni);
  f.avx512 = f.avx2 && (wide || MICA_EMULATES_AVX512);
  return f;
}
#endif

}  // namespace

bool supports(Isa isa) {
  if (!is_built(isa)) return false;
  switch (isa) {
    case Isa::kPortable:
    case Isa::kNeon: return true;
#if defined(__x86_64__) || defined(__i386__)
    case Isa::kSse2: return features().sse2;
    case Isa::kAvx2: return features().avx2;
    case Isa::kAvx512: return features().avx512;
#endif
    default: return false;
  }
}

bool has_adds_apart([[maybe_unused]] Isa isa) {
#if defined(__x86_64__) || defined(__i386__)
  constexpr uint32_t kWidths = 0x8000001a;  // AMD tells the width of its units; others have no such leaf
  unsigned eax = 0, ebx = 0, ecx = 0, edx = 0;
  const bool is_wide = isa == Isa::kAvx2 || isa == Isa::kAvx512;
  return is_wide && __get_cpuid(kWidths, &eax, &ebx, &ecx, &edx) && eax != 0;
#else
  return false;
#endif
}

bool has_half_units([[maybe_unused]] Isa isa) {
#if defined(__x86_64__) || defined(__i386__)
  constexpr uint32_t kZen4 = 0x19;  // that family's members before it lack these vectors
  unsigned eax = 0, ebx = 0, ecx = 0, edx = 0;
  if (isa != Isa::kAvx512 || !has_adds_apart(isa) || !__get_cpuid(1, &eax, &ebx, &ecx, &edx)) return false;
  const uint32_t base = eax >> 8 & 0xf, extended = eax >> 20 & 0xff;
  return base + extended == kZen4;
#else
  return false;
#endif
}

Result<Isa> choose_isa(std::string_view forced) {
  for (Isa isa : kPreference) {
    if (forced.empty() && supports(isa)) return isa;
    if (forced != name_of(isa)) continue;
    MICA_CHECK(supports(isa), kNoDevice, "this processor or this build lacks the instruction set `{}`", forced);
    return isa;
  }
  MICA_CHECK(!forced.empty(), kNoDevice, "this processor has none of the instruction sets of this build");
  return error(Code::kUsage, "there is no instruction set `{}`", forced)
      .hinting("the names are portable, sse2, avx2, avx512 and neon");
}

Result<Isa> best_isa() {
  const char* forced = std::getenv("MICA_ISA");
  return choose_isa(forced ? std::string_view(forced) : std::string_view());
}

}  // namespace mica
