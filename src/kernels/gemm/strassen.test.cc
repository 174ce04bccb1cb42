// Strassen's algorithm against a double loop, on every instruction set of the machine.
#include "kernels/gemm/strassen.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include "device/cpu/every_isa.h"
#include "kernels/pack/pack.h"

namespace mica {
namespace {

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kInf = std::numeric_limits<float>::infinity();
constexpr float kUntouched = -12345.0f;

std::vector<float> normals(int64_t size, unsigned seed, double deviation = 1) {
  std::mt19937 random(seed);
  std::normal_distribution<float> normal(0, static_cast<float>(deviation));
  std::vector<float> made(size);
  for (float& x : made) x = normal(random);
  return made;
}

// A product with its operands and its result; outputs have about the variance 1.
struct Product {
  StrassenArgs args;
  std::vector<float> a, b, bias, residual, weights, c;

  Product(int64_t m, int64_t n, int64_t k, MatrixForm a_form = MatrixForm::kRows) {
    GemmArgs& g = args.whole;
    g.problem = {.m = m, .n = n, .k = k, .a_form = a_form};
    g.a_stride = (a_form == MatrixForm::kRows ? k : m) + 3;
    g.c_stride = n + 7;
    g.epilogue.residual_stride = n + 2;
    a = normals((a_form == MatrixForm::kRows ? m : k) * g.a_stride, 1);
    b = normals(k * n, 2, 1 / std::sqrt(static_cast<double>(k)));
    bias = normals(n, 3);
    residual = normals(m * g.epilogue.residual_stride, 4);
  }
  const GemmProblem& problem() const { return args.whole.problem; }
  // No float is read behind the last row.
  float& a_at(int64_t i, int64_t k) {
    const int64_t stride = args.whole.a_stride;
    return problem().a_form == MatrixForm::kRows ? a[i * stride + k] : a[k * stride + i];
  }

  void make_weights(Isa isa, float alpha = 1, int64_t step = 1000) {
    const GemmProblem& p = problem();
    std::vector<float> panels(panels_size(p.k, p.n));
    pack_panels({.data = b.data(), .n = p.n, .n_stride = 1, .k = {1, 1, 1, p.k}, .k_stride = {0, 0, 0, p.n}},
                panels.data());
    weights.assign(strassen_weights_size(p), kNan);
    StrassenWeights w = strassen_weights_of(p, alpha);
    w.from = panels.data();
    w.to = weights.data();
    for (int64_t i = 0; i < w.panels; i += step) gemm_kernels(isa).strassen_weights(w, i, std::min(i + step, w.panels));
  }
  void run(Isa isa, const GemmLimits& limits, int64_t chunk = 1 << 30) {
    if (weights.empty()) make_weights(isa);
    GemmArgs& g = args.whole;
    c.assign(problem().m * g.c_stride, kUntouched);
    if (g.epilogue.residual) g.epilogue.residual = residual.data();
    run_in(c.data(), isa, limits, chunk);
  }
  void run_in(float* to, Isa isa, const GemmLimits& limits, int64_t chunk = 1 << 30) {
    GemmArgs& g = args.whole;
    g.a = a.data();
    g.b = weights.data();
    g.c = to;
    args.choice = choose_strassen(problem(), isa, limits);
    g.choice = args.choice.product;
    std::vector<float> scratch(args.choice.scratch_floats, kNan);
    for (int64_t t = 0; t < args.choice.tasks; t += chunk)
      gemm_kernels(isa).strassen(args, t, std::min(t + chunk, args.choice.tasks), scratch.data());
  }

  double sum_at(int64_t i, int64_t j) {
    double sum = 0;
    for (int64_t k = 0; k < problem().k; ++k) sum += static_cast<double>(a_at(i, k)) * b[k * problem().n + j];
    return sum;
  }
  // Every output within the stated bound, or within 1e-5 where few terms make the variance another one.
  void check() {
    const GemmProblem& p = problem();
    const GemmEpilogue& e = args.whole.epilogue;
    const double bound = std::max(1e-5, 8 * strassen_error(p.k));
    for (int64_t i = 0; i < p.m; ++i)
      for (int64_t j = 0; j < args.whole.c_stride; ++j) {
        const float got = c[i * args.whole.c_stride + j];
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

class Strassen : public testing::TestWithParam<Isa> {};

TEST_P(Strassen, AwkwardShapes) {
  for (int64_t m : {2, 3, 5, 28, 29, 61})
    for (int64_t n : {2, 3, 15, 16, 17, 31, 32, 33, 64, 97, 130})
      for (int64_t k : {2, 3, 7, 32, 67}) {
        SCOPED_TRACE(testing::Message() << m << "x" << n << "x" << k);
        Product p(m, n, k);
        if (n != 33) p.args.whole.epilogue.bias = p.bias.data();
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
      EXPECT_GT(p.args.choice.m_tasks, 1);
      ASSERT_NO_FATAL_FAILURE(p.check());
    }
}

TEST_P(Strassen, ATransposed) {
  for (int64_t m : {2, 17, 60})
    for (int64_t k : {3, 50}) {
      Product p(m, 70, k, MatrixForm::kTransposed);
      p.args.whole.epilogue.bias = p.bias.data();
      p.run(GetParam(), {.threads = 3});
      ASSERT_NO_FATAL_FAILURE(p.check());
    }
}

TEST_P(Strassen, Epilogues) {
  for (Activation kind : {Activation::kNone, Activation::kClip, Activation::kTanh})
    for (int residual : {0, 1, 2})
      for (int64_t m : {30, 31})
        for (int64_t n : {64, 85}) {
          SCOPED_TRACE(testing::Message()
                       << static_cast<int>(kind) << " residual " << residual << " " << m << "x" << n);
          Product p(m, n, 41);
          GemmEpilogue& e = p.args.whole.epilogue;
          e.bias = p.bias.data();
          e.activation = kind;
          e.a = -0.5f, e.b = 0.75f;
          if (residual) e.residual = p.residual.data();
          e.residual_last = residual == 2;
          p.run(GetParam(), {.threads = 2}, 1);
          ASSERT_NO_FATAL_FAILURE(p.check());
        }
}

TEST_P(Strassen, TheSplitAndTheBlocksChangeNoBit) {
  for (int64_t m : {61, 402}) {
    Product p(m, 150, 90);
    p.args.whole.epilogue.bias = p.bias.data();
    p.args.whole.epilogue.activation = Activation::kHardSwish;
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
    p.args.whole.epilogue.bias = p.bias.data();
    p.args.whole.epilogue.residual = p.residual.data();
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
          p.args.whole.epilogue.bias = p.bias.data();
          p.a_at(row, k) = value;
          p.run(GetParam(), {});
          const std::vector<float> one = p.c;
          for (int64_t j = 0; j < 70; ++j) {
            const float got = p.c[row * p.args.whole.c_stride + j];
            ASSERT_TRUE(std::isnan(got) || (std::isinf(value) && std::isinf(got))) << row << ", " << j;
          }
          p.a_at(row, k) = 0;
          for (int64_t j = 0; j < 70; ++j)
            p.c[row * p.args.whole.c_stride + j] = static_cast<float>(p.sum_at(row, j) + p.bias[j]);
          ASSERT_NO_FATAL_FAILURE(p.check());
        }
}

TEST_P(Strassen, RowsThatAreNotFiniteDoNotDependOnThreads) {
  Product p(301, 150, 67);
  p.args.whole.epilogue = {.bias = p.bias.data(), .residual = p.residual.data(), .residual_stride = 152};
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
        ASSERT_NEAR(p.c[i * p.args.whole.c_stride + j], p.sum_at(i, j), bound) << factor << ": " << i << ", " << j;
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
        const double error = p.c[i * p.args.whole.c_stride + j] - p.sum_at(i, j);
        ASSERT_TRUE(std::isfinite(error)) << i << ", " << j;  // what max would pass over
        most = std::max(most, std::fabs(error));
      }
    const double bound = gemm_candidates(p.problem(), GetParam(), {}).list[1].error;
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

// Large products, where B is constant and memory permits it.
TEST(GemmAlgorithms, AreChosenByShape) {
  const GemmLimits limits{.l1_bytes = 48 << 10, .l2_bytes = 2 << 20};
  const auto chosen = [&](const GemmProblem& p, const GemmPolicy& policy = {}) {
    return choose_gemm_algorithm(p, Isa::kAvx512, limits, policy);
  };
  const GemmProblem large{.m = 1024, .n = 4096, .k = 4096}, small{.m = 196, .n = 192, .k = 192};
  EXPECT_EQ(chosen(large), GemmAlgorithm::kStrassen);
  EXPECT_EQ(chosen(small), GemmAlgorithm::kPlain);
  EXPECT_EQ(chosen({.m = 49, .n = 4096, .k = 4096}), GemmAlgorithm::kStrassen);
  EXPECT_EQ(chosen({.m = 48, .n = 4096, .k = 4096}), GemmAlgorithm::kPlain);
  EXPECT_EQ(chosen({.m = 1, .n = 4096, .k = 4096}), GemmAlgorithm::kPlain);
  EXPECT_EQ(chosen(large, {.low_memory = true}), GemmAlgorithm::kPlain);
  EXPECT_EQ(chosen(small, {.force = true}), GemmAlgorithm::kStrassen);
  EXPECT_EQ(chosen({.m = 2, .n = 2, .k = 2}, {.force = true}), GemmAlgorithm::kStrassen);
  for (const GemmProblem& p :
       {GemmProblem{.m = 1, .n = 9, .k = 9}, GemmProblem{.m = 9, .n = 1, .k = 9}, GemmProblem{.m = 9, .n = 9, .k = 1},
        GemmProblem{.m = 9, .n = 9, .k = 9, .batch = {1, 2}},
        GemmProblem{.m = 9, .n = 9, .k = 9, .b_form = MatrixForm::kRows}})
    EXPECT_EQ(chosen(p, {.force = true}), GemmAlgorithm::kPlain);
}

// Units of their own take additions off long vectors only: with short ones it is what must begin that counts.
TEST(GemmAlgorithms, UnitsForAdditionsHelpLongVectors) {
  const GemmProblem p{.m = 784, .n = 256, .k = 512};
  const GemmLimits apart{.l1_bytes = 32 << 10, .l2_bytes = 1 << 20, .adds_apart = true};
  EXPECT_EQ(choose_gemm_algorithm(p, Isa::kAvx512, apart, {}), GemmAlgorithm::kStrassen);
  EXPECT_EQ(choose_gemm_algorithm(p, Isa::kAvx2, apart, {}), GemmAlgorithm::kPlain);
  EXPECT_EQ(choose_gemm_algorithm({.m = 196, .n = 256, .k = 1024}, Isa::kAvx2, apart, {}), GemmAlgorithm::kStrassen);
}

// Parts beyond the second-level cache pass beside the multiply-adds of short vectors, for one thread; the algorithm,
// whose bits differ, is the same for any number.
TEST(GemmAlgorithms, DoNotDependOnThreads) {
  GemmLimits limits{.l1_bytes = 32 << 10, .l2_bytes = 512 << 10};
  const GemmProblem wide{.m = 128, .n = 2048, .k = 512};
  EXPECT_EQ(choose_gemm_algorithm(wide, Isa::kAvx2, limits, {}), GemmAlgorithm::kStrassen);
  EXPECT_EQ(choose_gemm_algorithm(wide, Isa::kAvx512, limits, {}), GemmAlgorithm::kPlain);
  EXPECT_EQ(choose_strassen(wide, Isa::kAvx2, limits).n_tasks, 1);
  for (const Isa isa : {Isa::kAvx512, Isa::kAvx2, Isa::kSse2, Isa::kNeon})
    for (const GemmProblem& p :
         {wide, GemmProblem{.m = 196, .n = 512, .k = 512}, GemmProblem{.m = 98, .n = 96, .k = 99}})
      for (int threads : {2, 3, 8}) {
        limits.threads = 1;
        const GemmCandidate alone = gemm_candidates(p, isa, limits).list[1];
        limits.threads = threads;
        EXPECT_EQ(gemm_candidates(p, isa, limits).list[1].cycles, alone.cycles) << p.m << " " << threads;
      }
  limits.threads = 2;
  const StrassenChoice shared = choose_strassen(wide, Isa::kAvx2, limits);
  EXPECT_GT(shared.n_tasks, 2);
  EXPECT_LE(8 * shared.m_block * shared.n_block * 4, limits.l2_bytes);
}

TEST(GemmAlgorithms, AreRefusedWhereTheyAreTooInexact) {
  EXPECT_LE(8 * strassen_error(400000), kMostGemmError);
  const GemmProblem deep{.m = 64, .n = 64, .k = 1000000};
  EXPECT_FALSE(gemm_candidates(deep, Isa::kAvx512, {}).list[1].allowed);
  EXPECT_EQ(choose_gemm_algorithm(deep, Isa::kAvx512, {}, {.force = true}), GemmAlgorithm::kPlain);
  for (int64_t k : {2, 10, 100, 10000}) {
    const GemmCandidates all = gemm_candidates({.m = 64, .n = 64, .k = k}, Isa::kAvx512, {});
    EXPECT_EQ(all.list[1].modest, all.list[1].error <= 4 * all.list[0].error);
    EXPECT_EQ(all.list[1].modest, k >= 10) << k;
  }
}

TEST(GemmAlgorithms, PrintTheirNumbers) {
  const GemmProblem p{.m = 784, .n = 256, .k = 256};
  char text[512];
  size_t length = print_candidates(p, GemmAlgorithm::kPlain, Isa::kAvx512, {}, text);
  const std::string candidates(text, length);
  EXPECT_TRUE(candidates.starts_with("plain ")) << candidates;
  EXPECT_NE(candidates.find("(chosen); strassen "), std::string::npos) << candidates;
  length = print(p, choose_strassen(p, Isa::kPortable, {}), text, sizeof text);
  EXPECT_TRUE(std::string(text, length).starts_with("m=784 n=256 k=256 halves=392x128x128 block="));
  EXPECT_EQ(print_candidates(p, GemmAlgorithm::kPlain, Isa::kAvx512, {}, std::span(text, 10)), 9u);
}

}  // namespace
}  // namespace mica
