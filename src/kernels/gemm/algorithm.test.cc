// Which algorithm a product takes.
#include "kernels/gemm/algorithm.h"

#include <gtest/gtest.h>

#include "base/isa.h"

namespace mica {
namespace {

constexpr GemmPolicy kForced{.force = GemmAlgorithm::kStrassen}, kForcedPairs{.force = GemmAlgorithm::kPaired};
constexpr GemmLimits kHalfWide{.l1_bytes = 32 << 10, .l2_bytes = 1 << 20, .adds_apart = true, .half_units = true};

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
  EXPECT_EQ(chosen(small, kForced), GemmAlgorithm::kStrassen);
  EXPECT_EQ(chosen({.m = 2, .n = 2, .k = 2}, kForced), GemmAlgorithm::kStrassen);
  for (const GemmProblem& p :
       {GemmProblem{.m = 1, .n = 9, .k = 9}, GemmProblem{.m = 9, .n = 1, .k = 9}, GemmProblem{.m = 9, .n = 9, .k = 1},
        GemmProblem{.m = 9, .n = 9, .k = 9, .batch = {1, 2}},
        GemmProblem{.m = 9, .n = 9, .k = 9, .b_form = MatrixForm::kRows}})
    EXPECT_EQ(chosen(p, kForced), GemmAlgorithm::kPlain);
}

// Units of their own take additions off long vectors only: with short ones it is what must begin that counts.
TEST(GemmAlgorithms, UnitsForAdditionsHelpLongVectors) {
  const GemmProblem p{.m = 784, .n = 256, .k = 512};
  const GemmLimits apart{.l1_bytes = 32 << 10, .l2_bytes = 1 << 20, .adds_apart = true};
  EXPECT_EQ(choose_gemm_algorithm(p, Isa::kAvx512, apart, {}), GemmAlgorithm::kStrassen);
  EXPECT_EQ(choose_gemm_algorithm(p, Isa::kAvx2, apart, {}), GemmAlgorithm::kPlain);
  EXPECT_EQ(choose_gemm_algorithm({.m = 196, .n = 256, .k = 1024}, Isa::kAvx2, apart, {}), GemmAlgorithm::kStrassen);
}

// Pairs, where additions have units of their own: of deep products with many columns, not of few steps or columns,
// whose rows' sums are not worth it, nor of one row, which waits for its weights.
TEST(GemmAlgorithms, PairsWhereAdditionsAreFree) {
  const auto chosen = [](const GemmProblem& p, const GemmLimits& limits = kHalfWide, const GemmPolicy& policy = {},
                         Isa isa = Isa::kAvx512) { return choose_gemm_algorithm(p, isa, limits, policy); };
  const GemmProblem p{.m = 196, .n = 192, .k = 192};
  EXPECT_EQ(chosen(p), GemmAlgorithm::kPaired);
  EXPECT_EQ(chosen({.m = 784, .n = 256, .k = 512}), GemmAlgorithm::kPaired);
  EXPECT_EQ(chosen(p, {}), GemmAlgorithm::kPlain);
  EXPECT_EQ(chosen(p, {.adds_apart = true}), GemmAlgorithm::kPlain);
  EXPECT_EQ(chosen(p, {}, kForcedPairs), GemmAlgorithm::kPaired);
  EXPECT_EQ(chosen(p, kHalfWide, {.low_memory = true}), GemmAlgorithm::kPlain);
  EXPECT_EQ(chosen(p, kHalfWide, {.force = GemmAlgorithm::kPaired, .low_memory = true}), GemmAlgorithm::kPlain);
  EXPECT_EQ(chosen(p, kHalfWide, kForcedPairs, Isa::kAvx2), GemmAlgorithm::kPlain);
  EXPECT_EQ(chosen({.m = 3136, .n = 24, .k = 96}), GemmAlgorithm::kPlain);
  EXPECT_EQ(chosen({.m = 12544, .n = 64, .k = 16}), GemmAlgorithm::kPlain);
  EXPECT_EQ(chosen({.m = 1, .n = 1024, .k = 1024}), GemmAlgorithm::kPlain);
  EXPECT_EQ(chosen({.m = 196, .n = 192, .k = 192, .batch = {1, 2}}, kHalfWide, kForcedPairs), GemmAlgorithm::kPlain);
  EXPECT_EQ(chosen({.m = 196, .n = 192, .k = 192, .a_form = MatrixForm::kTransposed}, kHalfWide, kForcedPairs),
            GemmAlgorithm::kPlain);
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
      for (int threads : {2, 3, 8})
        for (int i = 0; i < kGemmAlgorithms; ++i) {
          limits.threads = 1;
          const GemmCandidate alone = gemm_candidates(p, isa, limits).list[i];
          limits.threads = threads;
          EXPECT_EQ(gemm_candidates(p, isa, limits).list[i].cycles, alone.cycles) << p.m << " " << threads;
        }
  limits.threads = 2;
  const StrassenChoice shared = choose_strassen(wide, Isa::kAvx2, limits);
  EXPECT_GT(shared.n_tasks, 2);
  EXPECT_LE(8 * shared.m_block * shared.n_block * 4, limits.l2_bytes);
}

TEST(GemmAlgorithms, AreRefusedWhereTheyAreTooInexact) {
  EXPECT_LE(8 * strassen_error(400000), kMostGemmError);
  const GemmProblem deep{.m = 64, .n = 64, .k = 1000000};
  EXPECT_FALSE(gemm_candidates(deep, Isa::kAvx512, {}).of(GemmAlgorithm::kStrassen).allowed);
  EXPECT_EQ(choose_gemm_algorithm(deep, Isa::kAvx512, {}, kForced), GemmAlgorithm::kPlain);
  for (int64_t k : {2, 10, 100, 10000}) {
    const GemmCandidates all = gemm_candidates({.m = 64, .n = 64, .k = k}, Isa::kAvx512, {});
    const GemmCandidate& strassen = all.of(GemmAlgorithm::kStrassen);
    EXPECT_EQ(strassen.modest, strassen.error <= 4 * all.list[0].error);
    EXPECT_EQ(strassen.modest, k >= 10) << k;
    EXPECT_TRUE(all.of(GemmAlgorithm::kPaired).modest) << k;
  }
}

TEST(GemmAlgorithms, HaveNames) {
  for (int i = 1; i < kGemmAlgorithms; ++i) {
    const auto a = static_cast<GemmAlgorithm>(i);
    EXPECT_EQ(gemm_force(name_of(a)), a);
  }
  EXPECT_EQ(gemm_force("plain"), GemmAlgorithm::kPlain);
  EXPECT_EQ(gemm_force("winograd4"), GemmAlgorithm::kPlain);
}

TEST(GemmAlgorithms, PrintTheirNumbers) {
  const GemmProblem p{.m = 784, .n = 256, .k = 256};
  char text[512];
  size_t length = print_candidates(p, GemmAlgorithm::kPlain, Isa::kAvx512, {}, text);
  const std::string candidates(text, length);
  EXPECT_TRUE(candidates.starts_with("plain ")) << candidates;
  EXPECT_NE(candidates.find("(chosen); strassen "), std::string::npos) << candidates;
  EXPECT_NE(candidates.find("; paired "), std::string::npos) << candidates;
  length = print(p, choose_strassen(p, Isa::kPortable, {}), text, sizeof text);
  EXPECT_TRUE(std::string(text, length).starts_with("m=784 n=256 k=256 halves=392x128x128 block="));
  EXPECT_EQ(print_candidates(p, GemmAlgorithm::kPlain, Isa::kAvx512, {}, std::span(text, 10)), 9u);
}

}  // namespace
}  // namespace mica
