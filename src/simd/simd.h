// Vector traits: one small vocabulary of vector operations, defined once per instruction set in `simd/<isa>.h` inside
// the set's own namespace (`mica::avx2`, `mica::neon`, ...). Kernels are written once against it and compiled once per
// set.
//
// Goals: what a kernel needs from fp32 and int32 vectors, at the speed of the intrinsics beneath; the same meaning on
// every set; nothing that a linker could merge across sets (everything is forced inline and lives in the set's
// namespace; only the freestanding headers and the intrinsics are included). Non-goals: a width other than the set's
// natural one, an abstraction of instructions that exist on one set only (kernels for them are files of their own),
// bitwise equal results across sets (fused multiply-add differs; horizontal sums differ with the lane count).
//
// Types: F32 and I32 with kLanes lanes (avx512 16, avx2 8, else 4); Mask, one truth value per lane, opaque.
//
//   load(p) store(p, v)                        any alignment
//   load_partial(p, n) store_partial(p, v, n)  0 <= n <= kLanes lanes; the other lanes read as zero and memory beyond
//   the n
//                                              is neither read nor written
//   set1(x) zero() zero_i32()                  a scalar float or int32_t in every lane; zeros; iota(): 0, 1, 2, ...
//   add sub mul div neg abs sqrt               IEEE; mul of I32 keeps the low 32 bits
//   fma(a,b,c) fms(a,b,c) fnma(a,b,c)          a*b+c, a*b-c, c-a*b; rounded once where the set has it (avx2, avx512,
//   neon),
//                                              else twice; kHasFma tells
//   min_fast max_fast                          one instruction; NaN when the second operand is NaN; when only the first
//   is,
//                                              unspecified: the second, or NaN. Clamping with the constant first keeps
//                                              NaN
//   min_nan max_nan                            NaN if an operand is NaN; the sign of a zero is unspecified
//   floor ceil trunc round_even                the sign of zero is kept; NaN and infinities pass
//   eq ne lt le gt ge is_nan                   -> Mask; every comparison with NaN is false, except ne. I32: eq gt lt
//   select(m, a, b)                            a where m, else b
//   any all mask_and mask_or mask_not first_lanes(n)
//   bit_and bit_or bit_xor bit_andnot(a,b)     on bit patterns of F32 or I32; andnot is ~a & b
//   shift_left<n> shift_right<n>               I32, zeros come in;  shift_right_sign<n>: copies of the sign come in
//   min max                                    I32
//   to_i32(F32) to_i32_trunc(F32) to_f32(I32)  nearest-even / towards zero; out of range and NaN: unspecified value
//   as_i32 as_f32                              the same bits
//   reduce_add reduce_max reduce_min           over the lanes, in a fixed tree: halves are combined until one lane is
//   left;
//                                              max and min propagate NaN
//   scale_by_power(a, n)                       a * 2^n for a whole number n in [-250, 250], or NaN where a is; below
//                                              the smallest normal number the result may be flushed or rounded twice
//   scale_by_rounded(a, kRounder + n)          a * 2^n for a whole number n in [-126, 127] that is still added to
//                                              kRounder, which is how rounding by addition leaves it: fewer
//                                              instructions
//   lookup(table, kRounder + n)                table[n] of eight floats, for a whole number n in [0, 7] that is still
//                                              added to kRounder; NaN gives any of them
//   kLeastPower                                of e that is zero: scale_by_rounded makes it of n = kLeastPower / ln 2
//   gather(p, index) load_strided(p, stride)   p[index], p[lane * stride], in elements;
//   store_strided(p, stride, v)
//   permute(F32, index)                        lane index[i], in [0, kLanes); through memory where !kHasPermute
//   transpose(F32 (&rows)[kLanes])             in place, kLanes x kLanes
//   exchange<n>(F32)                          lane i ^ n, for n = 1, 2, ... kLanes / 2
//   load_f16 store_f16 load_bf16 store_bf16    uint16_t patterns to and from F32, nearest-even; denormals are kept by
//   the
//                                              conversion itself, NaN stays NaN (quiet); with _partial(p, ..., n)
//   load_i8 load_u8 load_i16 load_u16          widened to I32; with _partial(p, n)
//   store_i8 store_u8                          saturated to the type's range; with _partial(p, v, n)
//   store_u16(p, v)                            low 16 bits of each lane
//   HalfF32 load_half(p) set1_half(x)          half of a vector, where units may be that wide (avx512); elsewhere F32,
//   fma lower upper join(low, high)            of which lower() and upper() are the whole and join takes the first
//   prefetch(p) prefetch_far(p)                a hint that the line at p will be read, soon or later
#pragma once
#include <stddef.h>
#include <stdint.h>

#define MICA_INLINE inline __attribute__((always_inline))
// In front of a loop over a register tile: without full unrolling the tile would live in memory.
#define MICA_UNROLL _Pragma("GCC unroll 32")

// 1.5 · 2^23: what is added to it is rounded to a whole number, which then stands in the lowest bits.
namespace mica {
inline constexpr float kRounder = 12582912.0f;
}

#ifdef MICA_ISA_HEADER
#include MICA_ISA_HEADER

#include "simd/derived.h"
#endif
