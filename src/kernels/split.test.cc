#include "kernels/split.h"

#include <gtest/gtest.h>

namespace mica {
namespace {

TEST(EvenBlock, ThreadsGetEqualNumbersOfUnits) {
  EXPECT_EQ(even_block(14, 8, 2), 1);     // 7 rows each, where blocks of two rows would be 8 and 6
  EXPECT_EQ(even_block(56, 8, 2), 7);     // as many as are wanted are even already
  EXPECT_EQ(even_block(7, 3, 2), 2);      // 4 and 3
  EXPECT_EQ(even_block(9, 4, 2), 1);      // 5 and 4, where blocks of three would be 6 and 3
  EXPECT_EQ(even_block(100, 1, 2), 100);  // one task
  EXPECT_EQ(even_block(1, 8, 2), 1);
}

// Never a thread with more than blocks of units / wanted would give it, never fewer tasks than wanted.
TEST(EvenBlock, NoWorseThanEqualBlocks) {
  const auto up = [](int64_t n, int64_t d) { return (n + d - 1) / d; };
  for (int64_t units = 1; units < 70; ++units)
    for (int64_t wanted = 2; wanted < 20; ++wanted)
      for (int64_t threads = 1; threads < 6; ++threads) {
        const int64_t block = even_block(units, wanted, threads), plain = up(units, wanted);
        ASSERT_GE(block, 1);
        ASSERT_LE(block, plain);
        ASSERT_LE(up(up(units, block), threads) * block, up(up(units, plain), threads) * plain);
      }
}

TEST(RowsOfTask, EvenForFourThreads) {
  EXPECT_EQ(rows_of_task(197, 85), 50);  // four tasks, where three of 85 rows would be 170 and 27 for two threads
  EXPECT_EQ(rows_of_task(49, 17), 13);
  EXPECT_EQ(rows_of_task(5, 0), 1);  // a row is more than a task
  for (int64_t rows : {0, 1, 7, 100}) EXPECT_EQ(rows_of_task(rows, 100), rows > 1 ? rows : 1);
  for (int64_t rows = 2; rows < 500; ++rows)
    for (int64_t most = 0; most < rows; ++most) {
      const int64_t block = rows_of_task(rows, most);
      ASSERT_GE(block, 1);
      ASSERT_LE(block, most > 1 ? most : 1);
    }
}

TEST(PanelsOfTask, PairsUnlessAThreadWouldHaveMore) {
  EXPECT_EQ(panels_of_task(64, 8, 2), 8);  // pairs: four tasks for each of two threads
  EXPECT_EQ(panels_of_task(64, 1, 2), 64);
  EXPECT_EQ(panels_of_task(2, 2, 2), 1);
  EXPECT_EQ(panels_of_task(3, 2, 2), 2);    // one thread has a pair either way
  EXPECT_EQ(panels_of_task(10, 4, 2), 5);   // of pairs, one thread would have six
  EXPECT_EQ(panels_of_task(62, 4, 2), 16);  // an odd number gains less than it is worth
  // Of whatever number, the busiest thread has at most half a pair more than its share.
  for (int64_t panels = 2; panels < 100; ++panels)
    for (int64_t threads = 2; threads < 5; ++threads) {
      const int64_t block = panels_of_task(panels, threads, threads), tasks = (panels + block - 1) / block;
      EXPECT_LE((tasks + threads - 1) / threads * block, (panels + threads - 1) / threads + 1) << panels;
    }
}

}  // namespace
}  // namespace mica
