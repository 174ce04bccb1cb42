// A product of matrices with its operands, beside a double loop: what tests of its algorithms share.
#pragma once
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include "base/isa.h"
#include "kernels/gemm/gemm.h"
#include "kernels/pack/pack.h"

namespace mica {

inline constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
inline constexpr float kInf = std::numeric_limits<float>::infinity();
inline constexpr float kUntouched = -12345.0f;

inline std::vector<float> normals(int64_t size, unsigned seed, double deviation = 1) {
  std::mt19937 random(seed);
  std::normal_distribution<float> normal(0, static_cast<float>(deviation));
  std::vector<float> made(size);
  for (float& x : made) x = normal(random);
  return made;
}

// Outputs have about the variance 1.
struct TestProduct {
  GemmArgs g;
  std::vector<float> a, b, bias, residual, weights, c;

  TestProduct(int64_t m, int64_t n, int64_t k, MatrixForm a_form = MatrixForm::kRows) {
    g.problem = {.m = m, .n = n, .k = k, .a_form = a_form};
    g.a_stride = (a_form == MatrixForm::kRows ? k : m) + 3;
    g.c_stride = n + 7;
    g.epilogue.residual_stride = n + 2;
    a = normals((a_form == MatrixForm::kRows ? m : k) * g.a_stride, 1);
    b = normals(k * n, 2, 1 / std::sqrt(static_cast<double>(k)));
    bias = normals(n, 3);
    residual = normals(m * g.epilogue.residual_stride, 4);
  }
  const GemmProblem& problem() const { return g.problem; }
  // No float is read behind the last row.
  float& a_at(int64_t i, int64_t k) {
    return problem().a_form == MatrixForm::kRows ? a[i * g.a_stride + k] : a[k * g.a_stride + i];
  }
  float& c_at(int64_t i, int64_t j) { return c[i * g.c_stride + j]; }
  std::vector<float> panels() const {
    const GemmProblem& p = problem();
    std::vector<float> made(panels_size(p.k, p.n));
    pack_panels({.data = b.data(), .n = p.n, .n_stride = 1, .k = {1, 1, 1, p.k}, .k_stride = {0, 0, 0, p.n}},
                made.data());
    return made;
  }

  double sum_at(int64_t i, int64_t j) {
    double sum = 0;
    for (int64_t k = 0; k < problem().k; ++k) sum += static_cast<double>(a_at(i, k)) * b[k * problem().n + j];
    return sum;
  }
  // Every output within `bound`, and nothing written beside them.
  void check(double bound) {
    const GemmProblem& p = problem();
    const GemmEpilogue& e = g.epilogue;
    for (int64_t i = 0; i < p.m; ++i)
      for (int64_t j = 0; j < g.c_stride; ++j) {
        const float got = c_at(i, j);
        if (j >= p.n) {
          ASSERT_EQ(got, kUntouched);
          continue;
        }
        double want = sum_at(i, j) + (e.bias ? e.bias[j] : 0);
        const double other = e.residual ? residual[i * e.residual_stride + j] : 0;
        if (!e.residual_last) want += other;
        if (e.activation == Activation::kClip) want = std::min(std::max<double>(want, e.a), static_cast<double>(e.b));
        if (e.activation == Activation::kTanh) want = std::tanh(want);
        if (e.residual_last) want += other;
        ASSERT_NEAR(got, want, bound) << i << ", " << j;
      }
  }
};

// Of an algorithm's product: every place of a residual, with two threads.
template <class Product>
void check_epilogues(Isa isa) {
  for (Activation kind : {Activation::kNone, Activation::kClip, Activation::kTanh})
    for (int residual : {0, 1, 2})
      for (int64_t m : {30, 31})
        for (int64_t n : {64, 85}) {
          SCOPED_TRACE(testing::Message()
                       << static_cast<int>(kind) << " residual " << residual << " " << m << "x" << n);
          Product p(m, n, 41);
          GemmEpilogue& e = p.g.epilogue;
          e.bias = p.bias.data();
          e.activation = kind;
          e.a = -0.5f, e.b = 0.75f;
          if (residual) e.residual = p.residual.data();
          e.residual_last = residual == 2;
          p.run(isa, {.threads = 2}, 1);
          ASSERT_NO_FATAL_FAILURE(p.check());
        }
}

}  // namespace mica
