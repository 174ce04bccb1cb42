#include "runtime/frame.h"

#include <gtest/gtest.h>

namespace mica {
namespace {

TEST(ReusablePool, TellsWhatItWillAskFor) {
  ReusablePool pool;
  EXPECT_GT(pool.growth(1), 0u);
  const ReusablePool::Mark start = pool.mark();
  ASSERT_NE(pool.take(1000), nullptr);
  EXPECT_EQ(pool.growth(1000), 0u);
  EXPECT_EQ(pool.growth(1 << 20), size_t{1} << 20);
  ASSERT_NE(pool.take(1 << 20), nullptr);
  pool.rewind(start);
  EXPECT_EQ(pool.growth(1 << 20), 0u);
}

// No number of bytes is so large that it becomes a small one.
TEST(ReusablePool, BeyondAnyMemory) {
  ReusablePool pool;
  ASSERT_NE(pool.take(64), nullptr);
  for (const size_t bytes : {SIZE_MAX, SIZE_MAX - 7, SIZE_MAX - 63, static_cast<size_t>(PTRDIFF_MAX)}) {
    EXPECT_GE(pool.growth(bytes), static_cast<size_t>(PTRDIFF_MAX));
    EXPECT_EQ(pool.take(bytes), nullptr);
  }
}

}  // namespace
}  // namespace mica
