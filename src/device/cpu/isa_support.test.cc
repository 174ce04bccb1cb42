#include "device/cpu/isa_support.h"

#include <gtest/gtest.h>

#include "mica_isas.inc"

namespace mica {

#define MICA_TEXT_OF(name) #name
#define MICA_TEXT(name) MICA_TEXT_OF(name)

// The portable set in every build that does not leave it out.
TEST(IsaSupport, ThePlainestSetOfTheBuildAlwaysRuns) {
  Result<Isa> isa = choose_isa(MICA_TEXT(MICA_PLAINEST_ISA));
  ASSERT_TRUE(isa.ok());
  EXPECT_TRUE(supports(*isa));
  EXPECT_EQ(name_of(*isa), MICA_TEXT(MICA_PLAINEST_ISA));
}

TEST(IsaSupport, ChoosesTheBestWhenNothingIsForced) {
  Result<Isa> isa = choose_isa("");
  ASSERT_TRUE(isa.ok());
  EXPECT_TRUE(supports(*isa));
#if defined(__x86_64__)
  EXPECT_FALSE(supports(Isa::kNeon));
  EXPECT_NE(*isa, Isa::kPortable);
#elif defined(__aarch64__)
  EXPECT_EQ(*isa, Isa::kNeon);
#endif
}

TEST(IsaSupport, EverySetIsChosenOrRefused) {
  for (Isa isa : {Isa::kPortable, Isa::kSse2, Isa::kAvx2, Isa::kAvx512, Isa::kNeon}) {
    Result<Isa> chosen = choose_isa(name_of(isa));
    EXPECT_EQ(chosen.ok(), supports(isa)) << name_of(isa);
    EXPECT_TRUE(chosen.ok() ? *chosen == isa : chosen.error().code() == Code::kNoDevice);
  }
}

TEST(IsaSupport, AddsApartAreOfWideVectors) {
  for (Isa isa : {Isa::kPortable, Isa::kSse2, Isa::kNeon}) EXPECT_FALSE(has_adds_apart(isa)) << name_of(isa);
  EXPECT_EQ(has_adds_apart(Isa::kAvx2), has_adds_apart(Isa::kAvx512));
}

TEST(IsaSupport, HalfUnitsAreOfTheWidestVectors) {
  for (Isa isa : {Isa::kPortable, Isa::kSse2, Isa::kAvx2, Isa::kNeon})
    EXPECT_FALSE(has_half_units(isa)) << name_of(isa);
  EXPECT_TRUE(has_adds_apart(Isa::kAvx512) || !has_half_units(Isa::kAvx512));
}

TEST(IsaSupport, UnknownNamesAreErrors) {
  for (const char* name : {"avx3", "AVX2", " avx2", "avx"}) {
    Result<Isa> isa = choose_isa(name);
    ASSERT_FALSE(isa.ok()) << name;
    EXPECT_EQ(isa.error().code(), Code::kUsage);
  }
}

}  // namespace mica
