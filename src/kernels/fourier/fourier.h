// A complex Fourier transform in single precision, of lengths whose prime factors are small: Stockham's self-sorting
// form with decimation in frequency (Van Loan, Computational Frameworks for the Fast Fourier Transform, 1992, 1.7), one
// pass per factor. Real and imaginary parts stand in arrays of their own. The relative error grows with the number of
// passes.
#pragma once
#include <stdint.h>

namespace mica {

enum class Isa : uint8_t;

inline constexpr int kMaxFourierPasses = 32;
inline constexpr int kMaxFourierFactor = 13;

struct FourierPlan {
  int64_t length = 1;
  bool inverse = false;
  int passes = 0;
  int8_t factors[kMaxFourierPasses] = {};
  // For each pass, of factor p with l transforms before it and m = length / (l·p) after: root^(l·i·j) at (j - 1)·m + i,
  // for 0 < j < p and 0 <= i < m.
  const float *re = nullptr, *im = nullptr;
};

// Sets `factors`; false when a prime factor is larger than kMaxFourierFactor. Fours come first, a single two before
// them, odd ones last.
bool fourier_factors(int64_t length, FourierPlan& plan);
// How many roots the passes of a plan take, and what they are.
int64_t fourier_roots(const FourierPlan& plan);
void fill_fourier_roots(const FourierPlan& plan, float* re, float* im);

// Four arrays of the plan's length: the signal and scratch, which change places with each pass.
struct FourierLine {
  float *re, *im, *other_re, *other_im;
};

struct FourierKernels {
  // Transforms line.re and line.im, not scaled; where they point then is the result.
  void (*run)(const FourierPlan& plan, FourierLine& line);
};
const FourierKernels& fourier_kernels(Isa isa);

}  // namespace mica
