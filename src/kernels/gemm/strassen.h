// One level of Strassen's algorithm in Winograd's form (Winograd 1971; Higham, Accuracy and Stability, 23.1): the
// quarters of C from seven products of quarters instead of eight,
//
//   S1 = A21 + A22    T1 = B12 - B11    P1 = A11·B11   P5 = S1·T1    U2 = P1 + P6    C11 = P1 + P2
//   S2 = S1 - A11     T2 = B22 - T1     P2 = A12·B21   P6 = S2·T2    U4 = U2 + P5    C12 = U4 + P3
//   S3 = A11 - A21    T3 = B22 - B12    P3 = S4·B22    P7 = S3·T3    U3 = U2 + P7    C21 = U3 + P4
//   S4 = A12 - S2     T4 = B21 - T2     P4 = A22·T4                                  C22 = U4 + P7
//
// B is constant: B11, B21, B22 and T1 to T4 are made ahead, in panels. Of a block of rows what is made on the way stays
// in the second-level cache.
//
// Halves of an odd number share what is in the middle. Row i is paired with row m - ⌈m/2⌉ + i, and the row in the
// middle is written once; B's lower half has a zero where the upper one has the shared step of k; so nothing is padded
// at run. Columns are cut at a multiple of 16 where there are more than 16.
//
// An output is the same sums in the same order however rows and columns are split into blocks and tasks, but depends on
// the row that its own is paired with by rounding, and so on the number of rows.
//
// A row with a NaN or an infinity and the one that it is paired with are multiplied apart, by B11, B21, B22 and T3, so
// that neither reaches another row: what a plain product makes NaN is NaN, what it makes infinite is infinite or NaN.
// So are two rows of A (not of A transposed, which is only multiplied so when asked for) of which one has a number
// more than kMostUneven times as large as all of the other: a row errs by the larger one of its pair.
// The residual must not be C itself.
#pragma once
#include <span>

#include "base/parts.h"
#include "kernels/gemm/gemm.h"

namespace mica {

// What a trimmed build may leave out (cmake/MicaTrim.cmake): it is then never chosen.
inline constexpr bool kWithStrassen =
    has_part("kernel", "gemm_f32_strassen") || has_part("kernel", "conv_f32_strassen");

inline constexpr int kStrassenProducts = 7;
inline constexpr float kMostUneven = 32;
// Floats that hold a flag for each row of a block.
inline __attribute__((always_inline)) int64_t strassen_flags(int64_t rows) { return (rows + 63) / 64 * 16; }

// Rows, columns and steps of k of the upper left quarters.
struct StrassenHalves {
  int64_t m, n, k;
};
StrassenHalves strassen_halves(const GemmProblem& problem);

// Whether the algorithm can compute the problem at all: B in panels, one matrix, at least two of everything.
bool strassen_fits(const GemmProblem& problem);

// Blocks of halves: a task takes so many rows of each half of A, and so many columns of each half of B.
struct StrassenChoice {
  int64_t m_block = 0, n_block = 0;
  int64_t m_tasks = 0, n_tasks = 0, tasks = 0;
  int64_t scratch_floats = 0;  // for each worker, 64-byte aligned
  GemmChoice product;          // of the seven products of a task
};
// Pure. The problem must fit.
StrassenChoice choose_strassen(const GemmProblem& problem, Isa isa, const GemmLimits& limits);

// "m=784 n=256 ... tasks=4 scratch=0"; returns the length, writes at most size.
size_t print(const GemmProblem& problem, const StrassenChoice& choice, char* out, size_t size);

// The standard deviation of an output's error, relative to that of the output, where A and B are independent and of
// mean 0. The model is that of winograd_error (kernels/conv/winograd.h): every rounding is an independent error of
// variance u²/3 of its result's square, u = 2^-24, and a chain of n multiply-adds errs by n · u²/6 of its result.
//
// With variances 1 of A and 1/k of B, a product of a sum of s quarters of A and a sum of t quarters of B has the
// variance s · t / 2, over chains of k/2:
//
//   P1, P2: 1/2   P3: 4·1/2   P4: 1·4/2   P5, P7: 2·2/2   P6: 3·3/2
//
// C11 is a sum of two of them, of variance 1; C12, C21 and C22 are sums of P1, P6 and two others each, of 9 in all. The
// worst is 9 · k/2 · u²/6: 4.5 times the variance and 2.1 times the deviation of a plain product. The sums S and T
// round each factor: at most three times for S4 and once for T, and so the products; two additions round at most 9.
double strassen_error(int64_t k);

// The seven matrices of B's sums, one after the other in the order of their use, each in panels of the left half:
// B11, B21, T2, T1, B22, T3, T4. From the panels of B, computed in doubles and rounded once, to the same bits on every
// instruction set, in parts: panels first to last - 1 of the left half's.
struct StrassenWeights {
  int64_t n = 0, k = 0;  // of B
  StrassenHalves half;
  int64_t panels = 0;  // of the left half
  float alpha = 1;     // factor of B
  const float* from = nullptr;
  float* to = nullptr;
};
StrassenWeights strassen_weights_of(const GemmProblem& problem, float alpha);  // without memory
int64_t strassen_weights_size(const GemmProblem& problem);                     // floats

// Cycles of one thread.
double strassen_cycles(const GemmProblem& problem, Isa isa, GemmLimits limits);
// Whether so many rows gain more than measurements scatter by, and are worth the memory.
bool strassen_pays(const GemmProblem& problem, Isa isa, double cycles, double plain_cycles);

// whole.choice is the product's.
struct StrassenArgs {
  GemmArgs whole;  // b: strassen_weights
  StrassenChoice choice;
};

}  // namespace mica
