#include "simd/simd_probe.h"

#include "simd/simd.h"

namespace mica::MICA_ISA {
namespace {

#define PROBE(name, expression)                                                   \
  {                                                                               \
    name, [](const float* pa, const float* pb, const float* pc, float* out) {     \
      [[maybe_unused]] const F32 a = load(pa), b = load(pb), c = load(pc);        \
      [[maybe_unused]] const I32 ia = load(reinterpret_cast<const int32_t*>(pa)), \
                                 ib = load(reinterpret_cast<const int32_t*>(pb)); \
      store(out, expression);                                                     \
    }                                                                             \
  }
#define PROBE_I32(name, expression) PROBE(name, as_f32(expression))
#define PROBE_MASK(name, expression) PROBE(name, select(expression, set1(1.0f), zero()))

constexpr float kTable[8] = {3, 1, 4, 1.5f, 9, -2, 6, 5};

constexpr SimdProbe kProbes[] = {
    PROBE("add", add(a, b)),
    PROBE("sub", sub(a, b)),
    PROBE("mul", mul(a, b)),
    PROBE("div", div(a, b)),
    PROBE("fma", fma(a, b, c)),
    PROBE("fms", fms(a, b, c)),
    PROBE("fnma", fnma(a, b, c)),
    PROBE("fma_halves", join(fma(load_half(pa), lower(b), lower(c)), fma(upper(a), upper(b), upper(c)))),
    PROBE("sqrt", sqrt(a)),
    PROBE("scale_by_power", scale_by_power(a, round_even(b))),
    PROBE("scale_by_rounded", scale_by_rounded(a, add(b, set1(kRounder)))),
    PROBE("lookup", lookup(kTable, add(min_fast(set1(7.0f), abs(round_even(b))), set1(kRounder)))),
    PROBE("abs", abs(a)),
    PROBE("neg", neg(a)),
    PROBE("min_fast", min_fast(a, b)),
    PROBE("max_fast", max_fast(a, b)),
    PROBE("min_nan", min_nan(a, b)),
    PROBE("max_nan", max_nan(a, b)),
    PROBE("floor", floor(a)),
    PROBE("ceil", ceil(a)),
    PROBE("trunc", trunc(a)),
    PROBE("round_even", round_even(a)),
    PROBE_MASK("eq", eq(a, b)),
    PROBE_MASK("ne", ne(a, b)),
    PROBE_MASK("lt", lt(a, b)),
    PROBE_MASK("le", le(a, b)),
    PROBE_MASK("gt", gt(a, b)),
    PROBE_MASK("ge", ge(a, b)),
    PROBE_MASK("is_nan", is_nan(a)),
    PROBE_MASK("mask_and", mask_and(lt(a, b), lt(b, c))),
    PROBE_MASK("mask_or", mask_or(lt(a, b), lt(b, c))),
    PROBE_MASK("mask_not", mask_not(lt(a, b))),
    PROBE("bit_and", bit_and(a, b)),
    PROBE("bit_or", bit_or(a, b)),
    PROBE("bit_xor", bit_xor(a, b)),
    PROBE("bit_andnot", bit_andnot(a, b)),
    PROBE("select", select(lt(a, b), a, c)),
    PROBE_I32("i_add", add(ia, ib)),
    PROBE_I32("i_sub", sub(ia, ib)),
    PROBE_I32("i_mul", mul(ia, ib)),
    PROBE_I32("i_min", min(ia, ib)),
    PROBE_I32("i_max", max(ia, ib)),
    PROBE_I32("i_and", bit_and(ia, ib)),
    PROBE_I32("i_or", bit_or(ia, ib)),
    PROBE_I32("i_xor", bit_xor(ia, ib)),
    PROBE_I32("i_andnot", bit_andnot(ia, ib)),
    PROBE_I32("i_shl", shift_left<5>(ia)),
    PROBE_I32("i_shr", shift_right<5>(ia)),
    PROBE_I32("i_sar", shift_right_sign<5>(ia)),
    PROBE_I32("i_select", select(gt(ia, ib), ia, ib)),
    PROBE_MASK("i_eq", eq(ia, ib)),
    PROBE_MASK("i_gt", gt(ia, ib)),
    PROBE_MASK("i_lt", lt(ia, ib)),
    PROBE_I32("to_i32", to_i32(a)),
    PROBE_I32("to_i32_trunc", to_i32_trunc(a)),
    PROBE("to_f32", to_f32(ia)),
    PROBE("zero", add(zero(), as_f32(zero_i32()))),
    PROBE("set1", set1(*pa)),
    PROBE_I32("iota", add(iota(), set1(int32_t{3}))),
};

void load_store_partial(const float* in, float* out, int n) { store_partial(out, load_partial(in, n), n); }
void load_store_partial_i32(const int32_t* in, int32_t* out, int n) { store_partial(out, load_partial(in, n), n); }
float probe_reduce_add(const float* a) { return reduce_add(load(a)); }
float probe_reduce_max(const float* a) { return reduce_max(load(a)); }
float probe_reduce_min(const float* a) { return reduce_min(load(a)); }
int any_all(const int32_t* a) {
  const Mask m = mask_not(eq(load(a), zero_i32()));
  return (any(m) ? 1 : 0) | (all(m) ? 2 : 0);
}
void probe_transpose(const float* in, float* out) {
  F32 rows[kLanes];
  for (int i = 0; i < kLanes; ++i) rows[i] = load(in + i * kLanes);
  transpose(rows);
  for (int i = 0; i < kLanes; ++i) store(out + i * kLanes, rows[i]);
}
template <int n>
void exchanges(const float* in, float* out) {
  store(out, exchange<n>(load(in)));
  if constexpr (2 * n < kLanes) exchanges<2 * n>(in, out + kLanes);
}
void strided(const float* in, int stride, float* out) { store_strided(out, stride, load_strided(in, stride)); }
void probe_gather(const float* in, const int32_t* index, float* out) { store(out, gather(in, load(index))); }
void probe_permute(const float* in, const int32_t* index, float* out) { store(out, permute(load(in), load(index))); }
void f16_to_f32(const uint16_t* in, float* out) { store(out, load_f16(in)); }
void f32_to_f16(const float* in, uint16_t* out) { store_f16(out, load(in)); }
void bf16_to_f32(const uint16_t* in, float* out) { store(out, load_bf16(in)); }
void f32_to_bf16(const float* in, uint16_t* out) { store_bf16(out, load(in)); }
void widen_i8(const int8_t* in, int32_t* out, int n) { store(out, n == kLanes ? load_i8(in) : load_i8_partial(in, n)); }
void widen_u8(const uint8_t* in, int32_t* out, int n) {
  store(out, n == kLanes ? load_u8(in) : load_u8_partial(in, n));
}
void narrow_i8(const int32_t* in, int8_t* out, int n) {
  if (n == kLanes) return store_i8(out, load(in));
  store_i8_partial(out, load(in), n);
}
void narrow_u8(const int32_t* in, uint8_t* out, int n) {
  if (n == kLanes) return store_u8(out, load(in));
  store_u8_partial(out, load(in), n);
}

}  // namespace

extern const SimdProbes kSimdProbes;
const SimdProbes kSimdProbes = {
    .lanes = kLanes,
    .has_fma = kHasFma,
    .probes = kProbes,
    .count = sizeof kProbes / sizeof kProbes[0],
    .load_store_partial = load_store_partial,
    .load_store_partial_i32 = load_store_partial_i32,
    .reduce = {probe_reduce_add, probe_reduce_max, probe_reduce_min},
    .any_all = any_all,
    .transpose = probe_transpose,
    .exchange = exchanges<1>,
    .strided = strided,
    .gather = probe_gather,
    .permute = probe_permute,
    .f16_to_f32 = f16_to_f32,
    .f32_to_f16 = f32_to_f16,
    .bf16_to_f32 = bf16_to_f32,
    .f32_to_bf16 = f32_to_bf16,
    .widen_i8 = widen_i8,
    .widen_u8 = widen_u8,
    .narrow_i8 = narrow_i8,
    .narrow_u8 = narrow_u8,
};

}  // namespace mica::MICA_ISA
