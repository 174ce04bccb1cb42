// Products of terms in pairs against a double loop, on every instruction set of the machine that has them.
#include "kernels/gemm/paired.h"

#include "base/integers.h"
#include "device/cpu/every_isa.h"
#include "kernels/gemm/algorithm.h"
#include "kernels/gemm/product.test.h"

namespace mica {
namespace {

std::vector<Isa> sets_with_pairs() {
  std::vector<Isa> sets;
  for (const Isa isa : every_isa())
    if (gemm_kernels(isa).paired_weights) sets.push_back(isa);
  return sets;
}

struct Product : TestProduct {
  using TestProduct::TestProduct;

  void make_weights(Isa isa, float alpha = 1, int64_t step = 1000) {
    const std::vector<float> from = panels();
    weights.assign(paired_weights_size(problem()), kNan);
    const PairedWeights w{.k = problem().k,
                          .panels = panel_count(problem().n),
                          .alpha = alpha,
                          .from = from.data(),
                          .to = weights.data()};
    for (int64_t i = 0; i < w.panels; i += step) gemm_kernels(isa).paired_weights(w, i, std::min(i + step, w.panels));
  }
  void run(Isa isa, const GemmLimits& limits = {}, int64_t chunk = 1 << 30) {
    c.assign(problem().m * g.c_stride, kUntouched);
    if (g.epilogue.residual) g.epilogue.residual = residual.data();
    run_in(c.data(), isa, limits, chunk);
  }
  void run_in(float* to, Isa isa, const GemmLimits& limits, int64_t chunk = 1 << 30) {
    if (weights.empty()) make_weights(isa);
    g.a = a.data();
    g.b = weights.data();
    g.c = to;
    g.choice = choose_paired(problem(), isa, limits);
    std::vector<float> scratch(g.choice.scratch_floats, kNan);
    for (int64_t t = 0; t < g.choice.tasks; t += chunk)
      gemm_kernels(isa).run(g, t, std::min(t + chunk, g.choice.tasks), scratch.data());
  }
  // Within the stated bound, or within 1e-5 where few terms make the variance another one.
  void check(double scale = 1) { TestProduct::check(std::max(1e-5, 8 * paired_error(problem().k)) * scale); }

  // What a plain product gives, to the bit.
  float plain_at(int64_t i, int64_t j) {
    float sum = g.epilogue.bias ? g.epilogue.bias[j] : 0;
    for (int64_t k = 0; k < problem().k; ++k) sum = std::fma(a_at(i, k), b[k * problem().n + j], sum);
    return sum;
  }
  void scale_row(int64_t i, float factor) {
    for (int64_t k = 0; k < problem().k; ++k) a_at(i, k) *= factor;
  }
};

bool same(float x, float y) { return x == y || (std::isnan(x) && std::isnan(y)); }

class Paired : public testing::TestWithParam<Isa> {};
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(Paired);

TEST_P(Paired, AwkwardShapes) {
  for (int64_t m : {1, 2, 5, 9, 12, 13, 29, 49, 61})
    for (int64_t n : {1, 15, 16, 17, 33, 64, 97})
      for (int64_t k : {1, 5, 6, 7, 17, 47, 48, 49, 67, 96, 131}) {
        SCOPED_TRACE(testing::Message() << m << "x" << n << "x" << k);
        Product p(m, n, k);
        if (n != 33) p.g.epilogue.bias = p.bias.data();
        p.run(GetParam());
        ASSERT_NO_FATAL_FAILURE(p.check());
      }
}

// Rows a multiple of 4 KiB apart meet in the first-level cache, and are copied.
TEST_P(Paired, RowsThatCollide) {
  Product p(37, 40, 1024);
  p.g.a_stride = 1024;
  p.g.epilogue.bias = p.bias.data();
  p.run(GetParam());
  ASSERT_NO_FATAL_FAILURE(p.check());
}

TEST_P(Paired, Epilogues) { check_epilogues<Product>(GetParam()); }

// The residual may be C itself, also for rows that are multiplied as they are.
TEST_P(Paired, ResidualInPlace) {
  for (Activation kind : {Activation::kNone, Activation::kClip, Activation::kTanh})
    for (int64_t n : {64, 85}) {
      Product p(31, n, 41);
      GemmEpilogue& e = p.g.epilogue;
      e = {.bias = p.bias.data(), .residual = p.residual.data(), .residual_stride = p.g.c_stride, .activation = kind};
      e.a = -0.5f, e.b = 0.75f;
      p.residual = normals(31 * p.g.c_stride, 9);
      p.scale_row(3, 1e20f);
      p.run(GetParam());
      std::vector<float> in_place = p.residual;
      e.residual = in_place.data();
      p.run_in(in_place.data(), GetParam(), {});
      for (int64_t i = 0; i < 31; ++i)
        for (int64_t j = 0; j < n; ++j) ASSERT_EQ(in_place[i * p.g.c_stride + j], p.c_at(i, j)) << i << ", " << j;
    }
}

TEST_P(Paired, TheSplitChangesNoBit) {
  for (int64_t m : {61, 402}) {
    Product p(m, 150, 90);
    p.g.epilogue.bias = p.bias.data();
    p.g.epilogue.activation = Activation::kHardSwish;
    p.scale_row(5, kNan), p.scale_row(17, 1e30f), p.scale_row(40, 1e-3f), p.scale_row(41, 0);
    p.run(GetParam());
    const std::vector<float> whole = p.c;
    for (int threads : {2, 3, 8, 64}) {
      p.run(GetParam(), {.threads = threads}, 1);
      for (size_t i = 0; i < whole.size(); ++i) ASSERT_TRUE(same(p.c[i], whole[i])) << threads << ": " << i;
    }
  }
}

// Of the layers of networks: no thread computes 7 % more than its share, tiles whole as they are (5 % are what rows are
// preferred for), and every row and panel is some task's.
TEST(PairedChoice, ThreadsHaveEqualShares) {
  for (int64_t m : {49, 100, 144, 196, 197, 400, 784, 1000})
    for (int64_t panels : {12, 32, 48})
      for (int threads : {1, 2, 4}) {
        const GemmProblem p{.m = m, .n = panels * kPanel, .k = 384};
        const GemmChoice c = choose_paired(p, Isa::kAvx512, {.threads = threads});
        SCOPED_TRACE(testing::Message() << m << " x " << panels << ", " << threads << ": " << c.m_tasks << " x "
                                        << c.n_tasks);
        ASSERT_EQ(c.tasks, c.m_tasks * c.n_tasks);
        int64_t computed = 0, rows = 0;  // by most tasks
        for (int64_t i = 0; i < c.m_tasks; ++i) {
          const int64_t of_task = m * (i + 1) / c.m_tasks - m * i / c.m_tasks;
          ASSERT_GE(paired_heights(of_task).rows(), of_task);
          rows += of_task;
          computed = std::max(computed, paired_heights(of_task).rows());
        }
        ASSERT_EQ(rows, m);
        ASSERT_GE(c.n_tasks * c.n_block, panels);
        ASSERT_LT((c.n_tasks - 1) * c.n_block, panels);
        const int64_t turns = ceil_div(c.tasks, threads);
        EXPECT_LE(static_cast<double>(turns * computed * c.n_block * threads), 1.07 * static_cast<double>(m * panels));
      }
}

TEST(PairedChoice, NothingToCompute) {
  for (int threads : {1, 2})
    for (const GemmProblem& p : {GemmProblem{.m = 0, .n = 32, .k = 24}, GemmProblem{.m = 9, .n = 0, .k = 24}})
      EXPECT_EQ(choose_paired(p, Isa::kAvx512, {.threads = threads}).tasks, 0);
}

// A row is the same among others, whose heights of tiles and scales differ.
TEST_P(Paired, ARowDoesNotDependOnItsNeighbours) {
  Product all(25, 40, 67);
  all.scale_row(3, 100.0f), all.scale_row(4, 1e-9f);
  all.run(GetParam());
  for (int64_t i = 0; i < 25; ++i) {
    Product one(1, 40, 67);
    for (int64_t k = 0; k < 67; ++k) one.a_at(0, k) = all.a_at(i, k);
    one.run(GetParam());
    for (int64_t j = 0; j < 40; ++j) ASSERT_EQ(one.c_at(0, j), all.c_at(i, j)) << i << ", " << j;
  }
}

// Rows with a NaN, an infinity or numbers that cannot be scaled are those of a plain product, to the bit, and no other
// row has any of it.
TEST_P(Paired, SpecialRowsAreMultipliedAsTheyAre) {
  for (const float value : {kNan, kInf, -kInf, 1e20f, -3e38f})
    for (int64_t row : {0, 7, 12, 16})
      for (int64_t k : {0, 2, 15, 16, 30}) {
        Product p(17, 70, 31);
        p.g.epilogue.bias = p.bias.data();
        p.a_at(row, k) = value;
        p.run(GetParam());
        for (int64_t j = 0; j < 70; ++j) {
          ASSERT_TRUE(same(p.c_at(row, j), p.plain_at(row, j))) << value << ": " << row << ", " << j;
          p.c_at(row, j) = p.bias[j];  // as of a row of zeros
        }
        for (int64_t i = 0; i < 31; ++i) p.a_at(row, i) = 0;
        ASSERT_NO_FATAL_FAILURE(p.check());
      }
}

// So are panels of columns with such a weight.
TEST_P(Paired, SpecialColumnsAreMultipliedAsTheyAre) {
  for (const float value : {kNan, kInf, 1e20f})
    for (int64_t column : {0, 20, 69}) {
      Product p(17, 70, 31);
      p.g.epilogue.bias = p.bias.data();
      p.b[7 * 70 + column] = value;
      p.run(GetParam());
      const int64_t first = column / kPanel * kPanel;
      for (int64_t i = 0; i < 17; ++i)
        for (int64_t j = first; j < std::min<int64_t>(first + kPanel, 70); ++j)
          ASSERT_TRUE(same(p.c_at(i, j), p.plain_at(i, j))) << value << ": " << i << ", " << j;
      p.b[7 * 70 + column] = 0;
      for (int64_t i = 0; i < 17; ++i) p.c_at(i, column) = static_cast<float>(p.sum_at(i, column) + p.bias[column]);
      ASSERT_NO_FATAL_FAILURE(p.check());
    }
}

// A row errs by its own size, and so does a column; zeros give the bias itself.
TEST_P(Paired, SmallAndLargeKeepTheirDigits) {
  for (const float factor : {1e-30f, 1e-9f, 1e-3f, 0.3f, 3.0f, 1e3f, 1e9f, 0.0f}) {
    Product p(48, 50, 67);
    for (int64_t i : {0, 9, 10, 31}) p.scale_row(i, factor);
    for (int64_t k = 0; k < 67; ++k)
      for (int64_t j : {3, 40}) p.b[k * 50 + j] *= factor;
    p.run(GetParam());
    for (int64_t i = 0; i < 48; ++i)
      for (int64_t j = 0; j < 50; ++j) {
        const double row = i == 0 || i == 9 || i == 10 || i == 31 ? factor : 1, column = j == 3 || j == 40 ? factor : 1;
        // Twice, since sizes are scaled by powers of two, and stay as they are within a factor of four.
        const double bound = 2 * std::max(1e-5, 8 * paired_error(67)) * row * column + 1e-40;
        ASSERT_NEAR(p.c_at(i, j), p.sum_at(i, j), bound) << factor << ": " << i << ", " << j;
      }
  }
}

// A few elements far larger than all others, that stand in pairs: an output errs by its largest terms.
TEST_P(Paired, LargeElementsInPairs) {
  for (const float large : {30.0f, 1e3f, 1e6f})
    for (int64_t k : {96, 3072}) {
      Product p(24, 32, k);
      for (int64_t i : {k - 6, k - 5, k - 2, k - 1}) {  // whose pairs the chain meets last
        p.a_at(5, i) = i % 2 ? large : -large;
        p.b[i * 32 + 9] = large / std::sqrt(static_cast<float>(k));
      }
      p.run(GetParam());
      for (int64_t i = 0; i < 24; ++i)
        for (int64_t j = 0; j < 32; ++j) {
          double row = 0, column = 0;
          for (int64_t t = 0; t < k; ++t) {
            row += std::pow(p.a_at(i, t), 2);
            column += std::pow(p.b[t * 32 + j], 2);
          }
          ASSERT_NEAR(p.c_at(i, j), p.sum_at(i, j),
                      2 * paired_error_of_large(k) * std::sqrt(row * column / static_cast<double>(k)))
              << large << ": " << i << ", " << j;
        }
    }
}

TEST_P(Paired, ErrorIsAsPredicted) {
  for (int64_t k : {64, 300, 1024}) {
    Product p(128, 96, k);
    p.run(GetParam());
    double most = 0;
    for (int64_t i = 0; i < 128; ++i)
      for (int64_t j = 0; j < 96; ++j) {
        const double error = p.c_at(i, j) - p.sum_at(i, j);
        ASSERT_TRUE(std::isfinite(error)) << i << ", " << j;  // what max would pass over
        most = std::max(most, std::fabs(error));
      }
    const double bound = gemm_candidates(p.problem(), GetParam(), {}).of(GemmAlgorithm::kPaired).error;
    EXPECT_LE(most, bound) << k;
    EXPECT_GE(most, bound / 8) << k;
  }
}

TEST_P(Paired, WeightsInPartsAndWithAFactor) {
  Product p(9, 70, 31);
  p.make_weights(GetParam(), 0.5f);
  const std::vector<float> whole = p.weights;
  p.make_weights(GetParam(), 0.5f, 1);
  ASSERT_EQ(p.weights, whole);
  p.run(GetParam());
  for (float& w : p.b) w *= 0.5f;
  ASSERT_NO_FATAL_FAILURE(p.check());
}

INSTANTIATE_TEST_SUITE_P(Every, Paired, testing::ValuesIn(sets_with_pairs()), IsaName());

}  // namespace
}  // namespace mica
