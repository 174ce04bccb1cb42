#include "kernel_record.h"

#include <gtest/gtest.h>

#include "device/cpu/every_isa.h"
#include "kernels/eltwise/eltwise.h"
#include "problem.h"

namespace mica::suite {
namespace {

// Kernels of `set` do a problem for which `asked` was asked.
void run_kernel(ProblemRecord& record, Isa asked, Isa set) {
  const float x[5] = {-1, 0, 1, 2, 3};
  float out[5];
  ProblemRecord::begin();
  eltwise_kernels(set).apply(Pointwise::kRelu, x, nullptr, out, 5, 0, 0);
  record.end(asked, "dense", {"relu"});
  EXPECT_EQ(out[0], 0);
}

TEST(KernelRecord, ProgramHasSymbolsOfEverySet) {
  ASSERT_TRUE(Probes::get().working());
  std::set<Isa> found;
  for (const KernelSymbol& symbol : Probes::get().symbols()) found.insert(symbol.isa);
  for (Isa isa : every_isa()) EXPECT_TRUE(found.contains(isa)) << name_of(isa);
}

TEST(KernelRecord, NamesAreTheSameOnEverySet) {
  EXPECT_EQ(short_name("void mica::avx2::(anonymous namespace)::f<mica::avx2::F32, 3>(mica::A const&)", Isa::kAvx2),
            "f<F32, 3>");
  EXPECT_EQ(short_name("mica::neon::(anonymous namespace)::run(long, float*) [clone .isra.0]", Isa::kNeon), "run");
  EXPECT_EQ(short_name("odd", Isa::kNeon), "odd");
}

TEST(KernelRecord, OwnKernelsAreNoFallback) {
  KernelRecord sum;
  ProblemRecord record("relu", sum);
  for (Isa isa : every_isa()) run_kernel(record, isa, isa);
  EXPECT_EQ(record.fallbacks(), "");
}

TEST(KernelRecord, AnotherSetsKernelIsOne) {
  const Isa plainest = every_isa().front();
  for (Isa isa : every_isa()) {
    if (isa == plainest) continue;
    KernelRecord sum;
    ProblemRecord record("relu", sum);
    run_kernel(record, isa, plainest);
    EXPECT_NE(record.fallbacks().find(std::string(name_of(isa)) + " runs"), std::string::npos) << record.fallbacks();
  }
}

TEST(KernelRecord, ReferenceAndCommonCodeBesideAKernelAreOne) {
  const Isa plainest = every_isa().front();
  for (Isa isa : every_isa()) {
    if (isa == plainest) continue;
    KernelRecord sum;
    ProblemRecord reference("relu", sum), common("relu", sum);
    run_kernel(reference, plainest, plainest);
    reference.left_to_reference(isa, "dense");
    EXPECT_NE(reference.fallbacks().find("(reference)"), std::string::npos);
    run_kernel(common, plainest, plainest);
    ProblemRecord::begin();
    common.end(isa, "dense", {"rows"});
    EXPECT_NE(common.fallbacks().find("(common)"), std::string::npos);
  }
}

TEST(KernelRecord, ReferenceOnEverySetIsNone) {
  KernelRecord sum;
  ProblemRecord record("relu", sum);
  for (Isa isa : every_isa()) record.left_to_reference(isa, "dense");
  EXPECT_EQ(record.fallbacks(), "");
}

}  // namespace
}  // namespace mica::suite
