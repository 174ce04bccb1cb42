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
// Leaf 1, ECX bit 29; not every compiler's run-time library knows the name.
bool has_f16c() {
  unsigned eax = 0, ebx = 0, ecx = 0, edx = 0;
  return __get_cpuid(1, &eax, &ebx, &ecx, &edx) != 0 && (ecx >> 29 & 1) != 0;
}
#endif

}  // namespace

bool supports(Isa isa) {
  if (!is_built(isa)) return false;
  switch (isa) {
    case Isa::kPortable:
    case Isa::kNeon: return true;
#if defined(__x86_64__) || defined(__i386__)
    // The compiler's run-time library asks the processor, and XGETBV whether the operating system saves the registers.
    case Isa::kSse2: return __builtin_cpu_supports("sse2") != 0;
    case Isa::kAvx2: return __builtin_cpu_supports("avx2") != 0 && __builtin_cpu_supports("fma") != 0 && has_f16c();
    case Isa::kAvx512:
      return supports(Isa::kAvx2) && __builtin_cpu_supports("avx512f") != 0 &&
             __builtin_cpu_supports("avx512bw") != 0 && __builtin_cpu_supports("avx512vl") != 0 &&
             __builtin_cpu_supports("avx512dq") != 0 && __builtin_cpu_supports("avx512cd") != 0 &&
             __builtin_cpu_supports("avx512vnni") != 0;
#endif
    default: return false;
  }
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
