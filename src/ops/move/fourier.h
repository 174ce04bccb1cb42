// A complex Fourier transform of any length by mixed-radix decimation in time: n·Σ(prime factors of n) operations.
#pragma once
#include <cmath>

#include "types/operand.h"
#include "types/stop.h"

namespace mica::move {

struct Complex {
  double re = 0, im = 0;
};

class Fourier {
 public:
  // Tables and scratch for `length` > 0 come from the scope.
  static Result<Fourier> make(RunScope& scope, int64_t length, bool inverse) {
    MICA_CHECK(length > 0 && length < (int64_t{1} << 31), kBadValue, "a Fourier transform of length {}", length);
    MICA_TRY(void* table, scope.allocate(static_cast<size_t>(length) * sizeof(Complex)));
    MICA_TRY(void* scratch, scope.allocate(static_cast<size_t>(length) * sizeof(Complex)));
    Fourier f;
    f.length_ = length;
    f.roots_ = static_cast<Complex*>(table);
    f.scratch_ = static_cast<Complex*>(scratch);
    StopCheck stop(scope);
    for (int64_t i = 0; i < length; ++i) {
      MICA_TRY_STATUS(stop.before(16));
      const double angle = (inverse ? 2 : -2) * M_PI * static_cast<double>(i) / static_cast<double>(length);
      f.roots_[i] = {std::cos(angle), std::sin(angle)};
    }
    return f;
  }
  // out[k] = Σ in[n]·root^(kn), not scaled. `in` and `out` are different arrays of the length. A large prime length
  // takes its square of operations: `stop` is asked on the way.
  Status run(const Complex* in, Complex* out, StopCheck& stop) const { return part(in, 1, out, length_, stop); }

 private:
  // Transforms in[0], in[step], … (n of them, n·step = length) into out[0 … n-1].
  Status part(const Complex* in, int64_t step, Complex* out, int64_t n, StopCheck& stop) const {
    if (n == 1) {
      out[0] = in[0];
      return {};
    }
    int64_t p = 2;
    while (p * p <= n && n % p != 0) ++p;
    if (n % p != 0) p = n;
    const int64_t m = n / p;
    for (int64_t r = 0; r < p; ++r) MICA_TRY_STATUS(part(in + r * step, step * p, out + r * m, m, stop));
    Complex* sum = scratch_;
    for (int64_t k = 0; k < m; ++k) {
      for (int64_t q = 0; q < p; ++q) {
        MICA_TRY_STATUS(stop.before(p));
        Complex s;
        for (int64_t r = 0; r < p; ++r) {
          const Complex w = roots_[(r * ((k + q * m) % n) % n) * step], x = out[k + r * m];
          s.re += x.re * w.re - x.im * w.im;
          s.im += x.re * w.im + x.im * w.re;
        }
        sum[q] = s;
      }
      for (int64_t q = 0; q < p; ++q) out[k + q * m] = sum[q];
    }
    return {};
  }
  int64_t length_ = 0;
  Complex* roots_ = nullptr;
  Complex* scratch_ = nullptr;
};

}  // namespace mica::move
