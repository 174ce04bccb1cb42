#include "kernels/fourier/fourier.h"

namespace mica::MICA_ISA {
namespace {

// What one pass reads and writes: [before][P][after] becomes [P][before][after].
struct Pass {
  float *re, *im;                  // input, the next pass's output
  float *to_re, *to_im;            // output
  const float *root_re, *root_im;  // [P - 1][after]
  int64_t before, after;
  float sign;  // of the imaginary unit: -1 forward, 1 inverse
};

// cos and sin of 2πk/P for odd P, k = 1 … (P - 1) / 2.
template <int P>
struct Turn;
template <>
struct Turn<3> {
  static constexpr float kCos[] = {-0.5f}, kSin[] = {0.86602540378443865f};
};
template <>
struct Turn<5> {
  static constexpr float kCos[] = {0.30901699437494742f, -0.80901699437494742f};
  static constexpr float kSin[] = {0.95105651629515357f, 0.58778525229247313f};
};
template <>
struct Turn<7> {
  static constexpr float kCos[] = {0.62348980185873353f, -0.22252093395631441f, -0.90096886790241913f};
  static constexpr float kSin[] = {0.78183148246802981f, 0.97492791218182361f, 0.43388373911755812f};
};
template <>
struct Turn<11> {
  static constexpr float kCos[] = {0.84125353283118117f, 0.41541501300188643f, -0.14231483827328514f,
                                   -0.65486073394528506f, -0.95949297361449739f};
  static constexpr float kSin[] = {0.54064081745559758f, 0.90963199535451837f, 0.98982144188093273f,
                                   0.75574957435425828f, 0.28173255684142970f};
};
template <>
struct Turn<13> {
  static constexpr float kCos[] = {0.88545602565320991f,  0.56806474673115581f,  0.12053668025532306f,
                                   -0.35460488704253562f, -0.74851074817110110f, -0.97094181742605203f};
  static constexpr float kSin[] = {0.46472317204376854f, 0.82298386589365640f, 0.99270887409805400f,
                                   0.93501624268541483f, 0.66312265824079521f, 0.23931566428755777f};
};

// The transform of P numbers, P odd: sums and differences of the pairs j and P - j.
template <int P>
inline void butterfly(const float* re, const float* im, float sign, float* to_re, float* to_im) {
  constexpr int kHalf = (P - 1) / 2;
  float sum_re[kHalf], sum_im[kHalf], dif_re[kHalf], dif_im[kHalf];
  to_re[0] = re[0];
  to_im[0] = im[0];
  for (int j = 0; j < kHalf; ++j) {
    sum_re[j] = re[j + 1] + re[P - 1 - j];
    sum_im[j] = im[j + 1] + im[P - 1 - j];
    dif_re[j] = re[j + 1] - re[P - 1 - j];
    dif_im[j] = im[j + 1] - im[P - 1 - j];
    to_re[0] += sum_re[j];
    to_im[0] += sum_im[j];
  }
  for (int q = 1; q <= kHalf; ++q) {
    float even_re = re[0], even_im = im[0], odd_re = 0, odd_im = 0;
    for (int j = 0; j < kHalf; ++j) {
      const int k = q * (j + 1) % P, at = (k <= kHalf ? k : P - k) - 1;
      const float c = Turn<P>::kCos[at], s = (k <= kHalf ? sign : -sign) * Turn<P>::kSin[at];
      even_re += c * sum_re[j];
      even_im += c * sum_im[j];
      odd_re += s * dif_re[j];
      odd_im += s * dif_im[j];
    }
    to_re[q] = even_re - odd_im;
    to_im[q] = even_im + odd_re;
    to_re[P - q] = even_re + odd_im;
    to_im[P - q] = even_im - odd_re;
  }
}
template <>
inline void butterfly<2>(const float* re, const float* im, float, float* to_re, float* to_im) {
  to_re[0] = re[0] + re[1];
  to_im[0] = im[0] + im[1];
  to_re[1] = re[0] - re[1];
  to_im[1] = im[0] - im[1];
}
template <>
inline void butterfly<4>(const float* re, const float* im, float sign, float* to_re, float* to_im) {
  const float even_re = re[0] + re[2], even_im = im[0] + im[2], odd_re = re[1] + re[3], odd_im = im[1] + im[3];
  const float low_re = re[0] - re[2], low_im = im[0] - im[2];
  const float side_re = sign * (im[3] - im[1]), side_im = sign * (re[1] - re[3]);
  to_re[0] = even_re + odd_re;
  to_im[0] = even_im + odd_im;
  to_re[1] = low_re + side_re;
  to_im[1] = low_im + side_im;
  to_re[2] = even_re - odd_re;
  to_im[2] = even_im - odd_im;
  to_re[3] = low_re - side_re;
  to_im[3] = low_im - side_im;
}

// The loop over i is what the compiler turns into vectors: everything inside is a constant number of operations.
template <int P>
void pass(const Pass& x) {
  const int64_t n = x.after, plane = x.before * n;
  for (int64_t k = 0; k < x.before; ++k) {
    const float* __restrict in_re = x.re + k * P * n, * __restrict in_im = x.im + k * P * n;
    float* __restrict out_re = x.to_re + k * n, * __restrict out_im = x.to_im + k * n;
    const float* __restrict root_re = x.root_re, * __restrict root_im = x.root_im;
    for (int64_t i = 0; i < n; ++i) {
      float re[P], im[P], to_re[P], to_im[P];
      for (int j = 0; j < P; ++j) re[j] = in_re[j * n + i], im[j] = in_im[j * n + i];
      butterfly<P>(re, im, x.sign, to_re, to_im);
      out_re[i] = to_re[0];
      out_im[i] = to_im[0];
      for (int j = 1; j < P; ++j) {
        const float c = root_re[(j - 1) * n + i], s = root_im[(j - 1) * n + i];
        out_re[j * plane + i] = to_re[j] * c - to_im[j] * s;
        out_im[j * plane + i] = to_re[j] * s + to_im[j] * c;
      }
    }
  }
}

void pass_of(int factor, const Pass& x) {
  switch (factor) {
    case 2: return pass<2>(x);
    case 3: return pass<3>(x);
    case 4: return pass<4>(x);
    case 5: return pass<5>(x);
    case 7: return pass<7>(x);
    case 11: return pass<11>(x);
    default: return pass<13>(x);
  }
}

void run(const FourierPlan& plan, FourierLine& line) {
  Pass x{.re = line.re,
         .im = line.im,
         .to_re = line.other_re,
         .to_im = line.other_im,
         .root_re = plan.re,
         .root_im = plan.im,
         .before = 1,
         .after = plan.length,
         .sign = plan.inverse ? 1.0f : -1.0f};
  for (int k = 0; k < plan.passes; ++k) {
    const int p = plan.factors[k];
    x.after /= p;
    pass_of(p, x);
    x.before *= p;
    x.root_re += (p - 1) * x.after;
    x.root_im += (p - 1) * x.after;
    float *const re = x.to_re, *const im = x.to_im;
    x.to_re = x.re;
    x.to_im = x.im;
    x.re = re;
    x.im = im;
  }
  line = {x.re, x.im, x.to_re, x.to_im};
}

}  // namespace

extern const FourierKernels fourier_kernels;
const FourierKernels fourier_kernels = {.run = run};

}  // namespace mica::MICA_ISA
