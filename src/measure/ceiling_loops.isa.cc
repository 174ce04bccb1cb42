#include "measure/ceiling_loops.h"

#include "simd/simd.h"

namespace mica::MICA_ISA {
namespace {

constexpr int kChains = 12;  // cover the latency of two units on every set

// The best that the set has for u8 · i8 + i32: one instruction, or the pair of widening products that stands for it.
#if defined(__AVX512VNNI__)
using Sums = __m512i;
constexpr int kPairs = 64;
inline Sums start(int i) { return _mm512_set1_epi32(i); }
inline void dot(Sums& sum, Sums a, Sums b) { asm("vpdpbusd %2, %1, %0" : "+v"(sum) : "v"(a), "v"(b)); }
inline void keep(int32_t* to, Sums sum) { _mm512_storeu_si512(to, sum); }
#elif defined(__AVX2__)
using Sums = __m256i;
constexpr int kPairs = 32;
inline Sums start(int i) { return _mm256_set1_epi32(i); }
inline void dot(Sums& sum, Sums a, Sums b) {
  Sums pairs = _mm256_maddubs_epi16(a, b);
  asm("" : "+x"(pairs));  // or the product, the same each time, would leave the loop
  sum = _mm256_add_epi32(sum, _mm256_madd_epi16(pairs, b));
}
inline void keep(int32_t* to, Sums sum) { _mm256_storeu_si256(reinterpret_cast<__m256i*>(to), sum); }
#else
// No product of bytes: they are widened, and multiplied as floats.
using Sums = F32;
constexpr int kPairs = kLanes;
inline Sums start(int i) { return set1(static_cast<float>(i & 7)); }
inline void dot(Sums& sum, Sums a, Sums b) { sum = fma(a, b, sum); }
inline void keep(int32_t* to, Sums sum) { store(to, as_i32(sum)); }
#endif

void dot_loop(int64_t rounds, int32_t* sink) {
  Sums chain[kChains];
  MICA_UNROLL for (int i = 0; i < kChains; ++i) chain[i] = start(i);
  const Sums a = start(0x01020304), b = start(0x01010101);
  for (int64_t r = 0; r < rounds; ++r) MICA_UNROLL for (int i = 0; i < kChains; ++i) dot(chain[i], a, b);
  MICA_UNROLL for (int i = 0; i < kChains; ++i) {
    asm volatile("" ::"r"(sink) : "memory");
    keep(sink, chain[i]);
  }
}

// Eight sums cover the latency of an addition at two loads a cycle.
float read_loop(const float* from, int64_t count) {
  constexpr int kSums = 8;
  F32 sum[kSums];
  MICA_UNROLL for (int i = 0; i < kSums; ++i) sum[i] = zero();
  for (int64_t at = 0; at < count; at += kSums * kLanes)
    MICA_UNROLL for (int i = 0; i < kSums; ++i) sum[i] = add(sum[i], load(from + at + i * kLanes));
  MICA_UNROLL for (int i = 1; i < kSums; ++i) sum[0] = add(sum[0], sum[i]);
  return reduce_add(sum[0]);
}

void copy_loop(const float* from, float* to, int64_t count) {
  constexpr int kSteps = 4;
  for (int64_t at = 0; at < count; at += kSteps * kLanes)
    MICA_UNROLL for (int i = 0; i < kSteps; ++i) store(to + at + i * kLanes, load(from + at + i * kLanes));
}

}  // namespace

extern const CeilingLoops ceiling_loops;
const CeilingLoops ceiling_loops = {
    .dot = dot_loop, .dot_ops = 2 * kPairs * kChains, .read = read_loop, .copy = copy_loop};

}  // namespace mica::MICA_ISA
