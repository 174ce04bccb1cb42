#include "base/checked.h"

#include <gtest/gtest.h>

namespace mica {
namespace {

TEST(Checked, Bounds) {
  constexpr int64_t kMost = std::numeric_limits<int64_t>::max();
  int64_t out = 0;
  EXPECT_TRUE(checked_add(kMost - 1, int64_t{1}, out));
  EXPECT_EQ(out, kMost);
  EXPECT_FALSE(checked_add(kMost, int64_t{1}, out));
  EXPECT_TRUE(checked_sub(-kMost, int64_t{1}, out));
  EXPECT_FALSE(checked_sub(-kMost, int64_t{2}, out));
  EXPECT_TRUE(checked_mul(int64_t{1} << 31, int64_t{1} << 31, out));
  EXPECT_FALSE(checked_mul(int64_t{1} << 32, int64_t{1} << 31, out));
  size_t size = 0;
  EXPECT_FALSE(checked_sub(size_t{1}, size_t{2}, size));
  EXPECT_FALSE(checked_mul(SIZE_MAX, size_t{2}, size));
}

TEST(Checked, Casts) {
  int32_t narrow = 0;
  size_t size = 0;
  EXPECT_TRUE(checked_cast(int64_t{-5}, narrow));
  EXPECT_EQ(narrow, -5);
  EXPECT_FALSE(checked_cast(int64_t{1} << 31, narrow));
  EXPECT_FALSE(checked_cast(int64_t{-1}, size));
  EXPECT_FALSE(checked_cast(SIZE_MAX, narrow));
}

TEST(Checked, RoundUp) {
  int64_t out = 0;
  EXPECT_TRUE(checked_round_up(int64_t{65}, int64_t{64}, out));
  EXPECT_EQ(out, 128);
  EXPECT_TRUE(checked_round_up(int64_t{-65}, int64_t{64}, out));
  EXPECT_EQ(out, -64);
  EXPECT_TRUE(checked_round_up(int64_t{0}, int64_t{64}, out));
  EXPECT_EQ(out, 0);
  size_t size = 0;
  EXPECT_FALSE(checked_round_up(SIZE_MAX - 1, size_t{64}, size));
}

TEST(Checked, Within) {
  EXPECT_TRUE(within(0, 0, 0));
  EXPECT_TRUE(within(3, 7, 10));
  EXPECT_FALSE(within(4, 7, 10));
  EXPECT_FALSE(within(11, 0, 10));
  EXPECT_FALSE(within(2, UINT64_MAX, 10));
}

TEST(Checked, Products) {
  EXPECT_EQ(*product({}, "x"), 1);
  EXPECT_EQ(*product({3, 5, 7}, "x"), 105);
  EXPECT_EQ(*product({int64_t{1} << 40, int64_t{1} << 40, 0}, "x"), 0);
  EXPECT_EQ(product({int64_t{1} << 40, int64_t{1} << 40}, "the weights").error().code(), Code::kLimit);
  EXPECT_EQ(product({0, -1}, "x").error().code(), Code::kLimit);
}

}  // namespace
}  // namespace mica
