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
struct Turn {
  float cos[6], sin[6];
};
constexpr Turn kTurn3 = {{-0.5f}, {0.86602540378443865f}};
constexpr Turn kTurn5 = {{0.30901699437494742f, -0.80901699437494742f}, {0.95105651629515357f, 0.58778525229247313f}};
constexpr Turn kTurn7 = {{0.62348980185873353f, -0.22252093395631441f, -0.90096886790241913f},
                         {0.78183148246802981f, 0.97492791218182361f, 0.43388373911755812f}};
constexpr Turn kTurn11 = {
    {0.84125353283118117f, 0.41541501300188643f, -0.14231483827328514f, -0.65486073394528506f, -0.95949297361449739f},
    {0.54064081745559758f, 0.90963199535451837f, 0.98982144188093273f, 0.75574957435425828f, 0.28173255684142970f}};
constexpr Turn kTurn13 = {{0.88545602565320991f, 0.56806474673115581f, 0.12053668025532306f, -0.35460488704253562f,
                           -0.74851074817110110f, -0.97094181742605203f},
                          {0.46472317204376854f, 0.82298386589365640f, 0.99270887409805400f, 0.93501624268541483f,
                           0.66312265824079521f, 0.23931566428755777f}};

// What output q takes of pair j.
struct Weight {
  float cos, sin;
};
constexpr Weight weight_of(const Turn& turn, int p, int q, int j, float sign) {
  const int k = q * (j + 1) % p, half = (p - 1) / 2, at = (k <= half ? k : p - k) - 1;
  return {turn.cos[at], (k <= half ? sign : -sign) * turn.sin[at]};
}

// The transform of P numbers, P odd: sums and differences of the pairs j and P - j.
template <int P>
inline void butterfly(const float* re, const float* im, float sign, float* to_re, float* to_im) {
  constexpr int kHalf = (P - 1) / 2;
  constexpr const Turn& kTurn = P == 3 ? kTurn3 : kTurn5;
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
      const Weight w = weight_of(kTurn, P, q, j, sign);
      even_re += w.cos * sum_re[j];
      even_im += w.cos * sum_im[j];
      odd_re += w.sin * dif_re[j];
      odd_im += w.sin * dif_im[j];
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
[[gnu::noinline]] void pass(const Pass& x) {
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

// The same for P = 7, 11 and 13, which are rare: one code for all, a few columns at a time.
[[gnu::noinline]] void pass_odd(int p, const Turn& turn, const Pass& x) {
  constexpr int kMost = 13, kHalf = kMost / 2, kColumns = 16;
  const int half = (p - 1) / 2;
  const int64_t n = x.after, plane = x.before * n;
  float sum_re[kHalf][kColumns], sum_im[kHalf][kColumns], dif_re[kHalf][kColumns], dif_im[kHalf][kColumns];
  for (int64_t column = 0; column < plane; column += kColumns) {
    const int count = plane - column < kColumns ? static_cast<int>(plane - column) : kColumns;
    int64_t in[kColumns], root[kColumns];
    for (int i = 0; i < count; ++i) root[i] = (column + i) % n, in[i] = (column + i) / n * p * n + root[i];
    for (int j = 0; j < half; ++j)
      for (int i = 0; i < count; ++i) {
        const int64_t low = in[i] + (j + 1) * n, high = in[i] + (p - 1 - j) * n;
        sum_re[j][i] = x.re[low] + x.re[high];
        sum_im[j][i] = x.im[low] + x.im[high];
        dif_re[j][i] = x.re[low] - x.re[high];
        dif_im[j][i] = x.im[low] - x.im[high];
      }
    const auto put = [&](int q, int i, float re, float im) {
      float c = 1, s = 0;
      if (q) c = x.root_re[(q - 1) * n + root[i]], s = x.root_im[(q - 1) * n + root[i]];
      x.to_re[q * plane + column + i] = q ? re * c - im * s : re;
      x.to_im[q * plane + column + i] = q ? re * s + im * c : im;
    };
    for (int q = 0; q <= half; ++q) {
      float even_re[kColumns], even_im[kColumns], odd_re[kColumns] = {}, odd_im[kColumns] = {};
      for (int i = 0; i < count; ++i) even_re[i] = x.re[in[i]], even_im[i] = x.im[in[i]];
      for (int j = 0; j < half; ++j) {
        const Weight w = q ? weight_of(turn, p, q, j, x.sign) : Weight{1, 0};
        for (int i = 0; i < count; ++i) even_re[i] += w.cos * sum_re[j][i], even_im[i] += w.cos * sum_im[j][i];
        for (int i = 0; q && i < count; ++i) odd_re[i] += w.sin * dif_re[j][i], odd_im[i] += w.sin * dif_im[j][i];
      }
      for (int i = 0; i < count; ++i) {
        put(q, i, even_re[i] - odd_im[i], even_im[i] + odd_re[i]);
        if (q) put(p - q, i, even_re[i] + odd_im[i], even_im[i] - odd_re[i]);
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
    default: return pass_odd(factor, factor == 7 ? kTurn7 : factor == 11 ? kTurn11 : kTurn13, x);
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
