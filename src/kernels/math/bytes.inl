// Single precision to narrow integers, as a cast converts.
#include "simd/simd.h"

// In front of a loop whose results no later turn reads: a result may take an operand's place, element by element.
#ifdef __clang__
#define MICA_INDEPENDENT _Pragma("clang loop vectorize(assume_safety)")
#else
#define MICA_INDEPENDENT _Pragma("GCC ivdep")
#endif

namespace mica::MICA_ISA {
namespace {

constexpr int kBytesTogether = 64;

// Truncation with the wide types' nearest number beyond their range; NaN becomes 0, as the reference has it.
template <class To, class Float>
MICA_INLINE To from_float(Float x) {
  if constexpr (sizeof(To) == 8)
    return x >= 0x1p63f ? INT64_MAX : x <= -0x1p63f ? INT64_MIN : x != x ? 0 : static_cast<To>(x);
  if constexpr (sizeof(To) == 4)
    return x >= 0x1p31f ? INT32_MAX : x <= -0x1p31f ? INT32_MIN : x != x ? 0 : static_cast<To>(x);
  // Narrow types keep the low bits, up to where the wide number itself has an end.
  constexpr bool kSigned = To(-1) < To(0);
  constexpr To kLow = kSigned ? static_cast<To>(int64_t{1} << (8 * sizeof(To) - 1)) : To(0),
               kHigh = static_cast<To>(~kLow);
  if (x >= 0x1p62f || x <= -0x1p62f) return x > 0 ? kHigh : kLow;
  return static_cast<To>(static_cast<uint64_t>(from_float<int64_t, Float>(x)));
}

// kBytesTogether neighbours: where all are within 32 bits, the low bits of those.
template <class To>
MICA_INLINE void bytes_of(const float* x, To* out) {
  constexpr int32_t kSize = INT32_MAX, kBeyond = 0x4f000000;  // all bits but the sign; those of 2^31
  int32_t sizes[kBytesTogether], largest = 0;
  __builtin_memcpy(sizes, x, sizeof sizes);
  for (int i = 0; i < kBytesTogether; ++i) largest = (sizes[i] & kSize) > largest ? sizes[i] & kSize : largest;
  if (largest >= kBeyond)
    for (int i = 0; i < kBytesTogether; ++i) out[i] = from_float<To>(x[i]);
  else
    MICA_INDEPENDENT for (int i = 0; i < kBytesTogether; ++i) out[i] = static_cast<To>(static_cast<int32_t>(x[i]));
}

}  // namespace
}  // namespace mica::MICA_ISA
