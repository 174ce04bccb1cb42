// Strassen's algorithm against a double loop, on every instruction set of the machine.
#include "kernels/gemm/strassen.h"

#include <gtest/gtest.h>

#include "device/cpu/every_isa.h"
#include "kernels/gemm/algorithm.h"
#include "kernels/gemm/product.test.h"

namespace mica {
namespace {

// A product with what Strassen's algorithm has beside.
struct Product : TestProduct {
  StrassenChoice choice;

  using TestProduct::TestProduct;

  void make_weights(Isa isa, float alpha = 1, int64_t step = 1000) {
    const std::vector<float> from = panels();
    weights.assign(strassen_weights_size(problem()), kNan);
    StrassenWeights w = strassen_weights_of(problem(), alpha);
    w.from = from.data();
    w.to = weights.data();
    for (int64_t i = 0; i < w.panels; i += step) gemm_kernels(isa).strassen_weights(w, i, std::min(i + step, w.panels));
  }
  void run(Isa isa, const GemmLimits& limits, int64_t chunk = 1 << 30) {
    if (weights.empty()) make_weights(isa);
    c.assign(problem().m * g.c_stride, kUntouched);
    if (g.epilogue.residual) g.epilogue.residual = residual.data();
    g.a = a.data();
    g.b = weights.data();
    g.c = c.data();
    choice = choose_strassen(problem(), isa, limits);
    g.choice = choice.product;
    std::vector<float> scratch(choice.scratch_floats, kNan);
    for (int64_t t = 0; t < choice.tasks; t += chunk)
      gemm_kernels(isa).strassen({g, choice}, t, std::min(t + chunk, choice.tasks), scratch.data());
  }
  // Within the stated bound, or within 1e-5 where few terms make the variance another one.
  void check() { TestProduct::check(std::max(1e-5, 8 * strassen_error(problem().k))); }
};

class Strassen : public testing::TestWithParam<Isa> {};

TEST_P(Strassen, AwkwardShapes) {
  for (int64_t m : {2, 3, 5, 28, 29, 61})
    for (int64_t n : {2, 3, 15, 16, 17, 31, 32, 33, 64, 97, 130})
      for (int64_t k : {2, 3, 7, 32, 67}) {
        SCOPED_TRACE(testing::Message() << m << "x" << n << "x" << k);
        Product p(m, n, k);
        if (n != 33) p.g.epilogue.bias = p.bias.data();
        p.run(GetParam(), {});
        ASSERT_NO_FATAL_FAILURE(p.check());
      }
}

TEST_P(Strassen, LargerThanBlocks) {
  for (int64_t m : {602, 801})
    for (int64_t n : {40, 577}) {
      SCOPED_TRACE(testing::Message() << m << "x" << n);
      Product p(m, n, 131);
      p.run(GetParam(), {.l2_bytes = 64 << 10});
      EXPECT_GT(p.choice.m_tasks, 1);
      ASSERT_NO_FATAL_FAILURE(p.check());
    }
}

TEST_P(Strassen, ATransposed) {
  for (int64_t m : {2, 17, 60})
    for (int64_t k : {3, 50}) {
      Product p(m, 70, k, MatrixForm::kTransposed);
      p.g.epilogue.bias = p.bias.data();
      p.run(GetParam(), {.threads = 3});
      ASSERT_NO_FATAL_FAILURE(p.check());
    }
}

TEST_P(Strassen, Epilogues) { check_epilogues<Product>(GetParam()); }

TEST_P(Strassen, TheSplitAndTheBlocksChangeNoBit) {
  for (int64_t m : {61, 402}) {
    Product p(m, 150, 90);
    p.g.epilogue.bias = p.bias.data();
    p.g.epilogue.activation = Activation::kHardSwish;
    p.run(GetParam(), {});
    const std::vector<float> whole = p.c;
    for (int64_t l2 : {8 << 10, 100 << 10, 64 << 20})
      for (int threads : {1, 2, 3, 8, 64}) {
        p.run(GetParam(), {.l2_bytes = l2, .threads = threads}, 1);
        ASSERT_EQ(p.c, whole) << l2 << " " << threads;
      }
  }
}

// Sums and products are the same ones in the same order on every set with fused multiply-adds.
TEST(StrassenSets, GiveTheSameBits) {
  std::vector<float> first;
  for (Isa isa : every_isa()) {
    if (isa == Isa::kPortable || isa == Isa::kSse2) continue;
    Product p(61, 150, 91);
    p.g.epilogue.bias = p.bias.data();
    p.g.epilogue.residual = p.residual.data();
    p.run(isa, {});
    if (first.empty()) first = p.c;
    EXPECT_EQ(p.c, first) << name_of(isa);
  }
}

// A NaN or an infinity may reach more outputs of its row than in a plain product, but none is lost, no other row has
// any, and those are right, to the same bits for any number of threads.
TEST_P(Strassen, SpecialValuesStayInTheirRows) {
  for (const MatrixForm form : {MatrixForm::kRows, MatrixForm::kTransposed})
    for (const float value : {kNan, kInf, -kInf})
      for (int64_t row : {0, 7, 8, 9, 16})
        for (int64_t k : {0, 15, 16, 30}) {
          Product p(17, 70, 31, form);
          p.g.epilogue.bias = p.bias.data();
          p.a_at(row, k) = value;
          p.run(GetParam(), {});
          const std::vector<float> one = p.c;
          for (int64_t j = 0; j < 70; ++j) {
            const float got = p.c[row * p.g.c_stride + j];
            ASSERT_TRUE(std::isnan(got) || (std::isinf(value) && std::isinf(got))) << row << ", " << j;
          }
          p.a_at(row, k) = 0;
          for (int64_t j = 0; j < 70; ++j)
            p.c[row * p.g.c_stride + j] = static_cast<float>(p.sum_at(row, j) + p.bias[j]);
          ASSERT_NO_FATAL_FAILURE(p.check());
        }
}

TEST_P(Strassen, RowsThatAreNotFiniteDoNotDependOnThreads) {
  Product p(301, 150, 67);
  p.g.epilogue = {.bias = p.bias.data(), .residual = p.residual.data(), .residual_stride = 152};
  for (int64_t row : {0, 3, 4, 5, 149, 150, 151, 299}) p.a_at(row, row % 67) = row % 2 ? kNan : kInf;
  p.run(GetParam(), {});
  const std::vector<float> one = p.c;
  for (int threads : {2, 3, 8}) {
    p.run(GetParam(), {.l2_bytes = 64 << 10, .threads = threads}, 1);
    for (size_t i = 0; i < one.size(); ++i)
      ASSERT_TRUE(p.c[i] == one[i] || (std::isnan(p.c[i]) && std::isnan(one[i]))) << i;
  }
}

// A row errs by its own size, also where the one that it is paired with (74 further on) is a thousand times as large.
TEST_P(Strassen, SmallRowsKeepTheirDigits) {
  for (const float factor : {1e-6f, 1e-3f, 1e3f, 1e30f, 0.0f}) {
    Product p(148, 150, 67);
    for (int64_t row : {0, 9, 10, 73, 80})
      for (int64_t k = 0; k < 67; ++k) p.a_at(row, k) *= factor;
    p.run(GetParam(), {});
    const std::vector<float> one = p.c;
    for (int64_t i = 0; i < 148; ++i)
      for (int64_t j = 0; j < 150; ++j) {
        const bool scaled = i == 0 || i == 9 || i == 10 || i == 73 || i == 80;
        const double bound = std::max(1e-5, 8 * strassen_error(67)) * (scaled ? factor : 1) + 1e-40;
        ASSERT_NEAR(p.c[i * p.g.c_stride + j], p.sum_at(i, j), bound) << factor << ": " << i << ", " << j;
      }
    p.run(GetParam(), {.l2_bytes = 64 << 10, .threads = 3}, 1);
    ASSERT_EQ(p.c, one);
  }
}

TEST_P(Strassen, ErrorIsAsPredicted) {
  for (int64_t k : {64, 300, 1024}) {
    Product p(128, 96, k);
    p.run(GetParam(), {});
    double most = 0;
    for (int64_t i = 0; i < 128; ++i)
      for (int64_t j = 0; j < 96; ++j) {
        const double error = p.c[i * p.g.c_stride + j] - p.sum_at(i, j);
        ASSERT_TRUE(std::isfinite(error)) << i << ", " << j;  // what max would pass over
        most = std::max(most, std::fabs(error));
      }
    const double bound = gemm_candidates(p.problem(), GetParam(), {}).of(GemmAlgorithm::kStrassen).error;
    EXPECT_LE(most, bound) << k;
    EXPECT_GE(most, bound / 8) << k;
  }
}

// Sums of the weights, rounded once, and the same bits on every set.
TEST_P(Strassen, WeightsAreRoundedOnce) {
  for (int64_t n : {9, 70})
    for (int64_t k : {6, 7})
      for (float alpha : {1.0f, 0.3f}) {
        Product p(2, n, k);
        const StrassenHalves half = strassen_halves(p.problem());
        p.make_weights(GetParam(), alpha, 1);
        const int64_t panels = panel_count(half.n), size = panels * half.k * kPanel;
        for (int64_t i = 0; i < half.k; ++i)
          for (int64_t j = 0; j < panels * kPanel; ++j) {
            const auto at = [&](int64_t down, int64_t across) -> double {
              if (j >= half.n || (across && half.n + j >= n) || (down && i == 0 && k % 2)) return 0;
              return static_cast<double>(p.b[(down * (k - half.k) + i) * n + across * half.n + j]) * alpha;
            };
            const double b11 = at(0, 0), b12 = at(0, 1), b21 = at(1, 0), b22 = at(1, 1);
            const double want[] = {b11, b21, b22 - (b12 - b11), b12 - b11, b22, b22 - b12, b21 - (b22 - (b12 - b11))};
            for (int s = 0; s < kStrassenProducts; ++s)
              ASSERT_EQ(p.weights[s * size + (j / kPanel * half.k + i) * kPanel + j % kPanel],
                        static_cast<float>(want[s]))
                  << s << " at " << i << ", " << j;
          }
      }
}

INSTANTIATE_TEST_SUITE_P(Every, Strassen, testing::ValuesIn(every_isa()), IsaName());

}  // namespace
}  // namespace mica
