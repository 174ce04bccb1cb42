// The interpolation points of Winograd's convolution and the polynomials that its transforms are made of.
//
// Points are 0, pairs ±p, and infinity. With Z(x) = Π (x² - p²) over all pairs, and R_p the same product without p's
// own factor, the rows of Bᵀ are the coefficients of Z (for 0), x·Z (for infinity) and (x ± p)·x·R_p (for the pairs).
//
// The pairs of 6 points, 11/16 and 23/16, have the least predicted error (winograd_error) among sixteenths: a quarter
// of that of ±1, ±2. All coefficients are numbers that fp32 holds exactly.
#pragma once

namespace mica {

inline constexpr int kMostWinogradPoints = 8;  // on one axis
inline constexpr int kMostWinogradSquare = kMostWinogradPoints * kMostWinogradPoints;

struct WinogradPolynomials {
  int pairs = 0;
  double p[3] = {};
  double zero[4] = {};     // of Z: [k] belongs to x^2k
  double rest[3][3] = {};  // of each R_p
};

constexpr WinogradPolynomials winograd_polynomials(int points) {
  WinogradPolynomials w;
  constexpr double kPairs[3][3] = {{1}, {0.6875, 1.4375}, {1, 2, 0.5}};
  w.pairs = points / 2 - 1;
  for (int i = 0; i < w.pairs; ++i) w.p[i] = kPairs[w.pairs - 1][i];
  // Multiplies a polynomial of x² of the given degree by (x² - p²).
  const auto times = [](double* c, int degree, double p) {
    for (int k = degree; k >= 0; --k) {
      c[k + 1] += c[k];
      c[k] *= -p * p;
    }
  };
  w.zero[0] = 1;
  for (int i = 0; i < w.pairs; ++i) times(w.zero, i, w.p[i]);
  for (int i = 0; i < w.pairs; ++i) {
    w.rest[i][0] = 1;
    int degree = 0;
    for (int j = 0; j < w.pairs; ++j)
      if (j != i) times(w.rest[i], degree++, w.p[j]);
  }
  return w;
}

template <int kPoints>
inline constexpr WinogradPolynomials kWinogradPolynomials = winograd_polynomials(kPoints);

// The rows of G: powers of the point over the value of the other factors there.
struct WinogradRows {
  double g[kMostWinogradPoints][kMostWinogradPoints] = {};
};

constexpr WinogradRows winograd_rows(int points, int taps) {
  WinogradRows rows;
  const WinogradPolynomials w = winograd_polynomials(points);
  rows.g[0][0] = 1 / w.zero[0];
  rows.g[points - 1][taps - 1] = 1;
  for (int i = 0; i < w.pairs; ++i)
    for (int sign = 0; sign < 2; ++sign) {
      const double p = sign ? -w.p[i] : w.p[i];
      double value = 0, power = 1;
      for (int k = 0; k < w.pairs; ++k, power *= p * p) value += w.rest[i][k] * power;
      value *= 2 * p * p;  // (x + p)·x at x = p
      power = 1 / value;
      for (int k = 0; k < taps; ++k, power *= p) rows.g[1 + 2 * i + sign][k] = power;
    }
  return rows;
}

}  // namespace mica
