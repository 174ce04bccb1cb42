#include "measure/roofline.h"

#include <gtest/gtest.h>

#include "base/threads.h"

namespace mica {
namespace {

// 100 GFLOP/s, 200 Gop/s of bytes; 1000 bytes at 8 GB/s, 10000 at 4, 100000 at 2, the rest at 1.
MachinePeak plain() {
  MachinePeak peak;
  peak.flops_one = 50e9, peak.flops_all = 100e9, peak.dot_all = 200e9;
  const double bytes[] = {1e3, 1e4, 1e5, 1e300}, speed[] = {8e9, 4e9, 2e9, 1e9};
  for (int i = 0; i < 4; ++i) peak.levels[i] = {bytes[i], speed[i] / 2, speed[i]};
  return peak;
}

TEST(Roofline, ArithmeticIsTheRoofOfASmallDenseStage) {
  EXPECT_DOUBLE_EQ(roofline_seconds({.flops = 1e9, .operand_bytes = 100}, plain(), 0), 0.01);
  EXPECT_DOUBLE_EQ(roofline_seconds({.flops = 1e9, .operand_bytes = 100, .bytes_product = true}, plain(), 0), 0.005);
}

TEST(Roofline, OperandsComeFromTheInnermostLevelsThatHoldThem) {
  EXPECT_DOUBLE_EQ(roofline_seconds({.operand_bytes = 800}, plain(), 0), 800 / 8e9);
  EXPECT_DOUBLE_EQ(roofline_seconds({.operand_bytes = 5e3}, plain(), 0), 1e3 / 8e9 + 4e3 / 4e9);
  EXPECT_DOUBLE_EQ(roofline_seconds({.operand_bytes = 2e5}, plain(), 0), 1e3 / 8e9 + 9e3 / 4e9 + 9e4 / 2e9 + 1e5 / 1e9);
}

TEST(Roofline, ConstantsComeFromWhereTheWholeModelStays) {
  // 10 bytes of a model of 2000: half of it is in the first level, half in the second.
  EXPECT_DOUBLE_EQ(roofline_seconds({.constant_bytes = 10}, plain(), 2000), 5 / 8e9 + 5 / 4e9);
  EXPECT_DOUBLE_EQ(roofline_seconds({.constant_bytes = 10}, plain(), 0), 10 / 8e9);
}

TEST(Roofline, AddsOperandsAndConstants) {
  EXPECT_DOUBLE_EQ(roofline_seconds({.operand_bytes = 800, .constant_bytes = 400}, plain(), 400), 1200 / 8e9);
}

TEST(Roofline, LevelsThatTheMachineLacksChangeNothing) {
  MachinePeak peak = plain();
  peak.levels[2] = peak.levels[3];
  EXPECT_DOUBLE_EQ(roofline_seconds({.operand_bytes = 2e4}, peak, 0), 1e3 / 8e9 + 9e3 / 4e9 + 1e4 / 1e9);
  EXPECT_EQ(roofline_seconds({}, peak, 0), 0);
  EXPECT_EQ(roofline_seconds({.flops = 1, .operand_bytes = 1}, MachinePeak(), 0), 0);
}

TEST(Peak, CeilingsArePlausible) {
  auto threads = Threads::create({.threads = 2});
  ASSERT_TRUE(threads.ok());
  auto machine = describe_machine();
  ASSERT_TRUE(machine.ok());
  Context context;
  context.machine = std::move(*machine);
  context.threads = &*threads;
  const auto peak = measure_peak(context);
  ASSERT_TRUE(peak.ok());
  EXPECT_GT(peak->flops_one, 1e8);
  EXPECT_GT(peak->dot_one, 1e8);
  EXPECT_GE(peak->handover_ns, 0);
  EXPECT_LT(peak->handover_ns, 1e6);
  for (int i = 0; i < 4; ++i) {
    EXPECT_GT(peak->levels[i].one, 1e8) << i;
    EXPECT_GT(peak->levels[i].all, 1e8) << i;
    if (i == 0) continue;
    EXPECT_LE(peak->levels[i].one, peak->levels[i - 1].one) << i;
    EXPECT_GE(peak->levels[i].bytes, peak->levels[i - 1].bytes) << i;
  }
  const auto wide = measure_peak(context, size_t{1} << 40);  // more than any cache holds: as far as it goes
  ASSERT_TRUE(wide.ok());
  EXPECT_GT(wide->levels[2].one, 1e8);
  EXPECT_LE(wide->levels[2].one, wide->levels[1].one);
}

}  // namespace
}  // namespace mica
