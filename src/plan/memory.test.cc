#include "plan/memory.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <vector>

namespace mica {
namespace {

bool overlapping(const std::vector<MemoryBlock>& blocks) {
  for (size_t i = 0; i < blocks.size(); ++i)
    for (size_t k = i + 1; k < blocks.size(); ++k) {
      const MemoryBlock &a = blocks[i], &b = blocks[k];
      const bool in_time = a.first <= b.last && b.first <= a.last,
                 in_space = a.offset < b.offset + b.bytes && b.offset < a.offset + a.bytes;
      if (in_time && in_space) return true;
    }
  return false;
}

size_t plan(std::vector<MemoryBlock>& blocks, int threads = 1) {
  auto total = plan_memory(blocks, threads);
  EXPECT_TRUE(total.ok());
  EXPECT_FALSE(overlapping(blocks));
  for (const MemoryBlock& b : blocks) {
    EXPECT_EQ(b.offset % kBlockAlign, 0u);
    EXPECT_LE(b.offset + b.bytes, *total);
  }
  return *total;
}

TEST(Memory, NothingNeedsNothing) {
  std::vector<MemoryBlock> none, empty(3);
  EXPECT_EQ(plan(none), 0u);
  EXPECT_EQ(plan(empty), 0u);
}

TEST(Memory, AChainNeedsItsLargestPair) {
  std::vector<MemoryBlock> blocks;
  for (uint32_t i = 0; i < 20; ++i)
    blocks.push_back({.bytes = 64 * (1 + i % 5), .first = i, .last = i + 1, .offset = 0});
  EXPECT_EQ(plan(blocks), live_bound(blocks));
}

// Small blocks that live on while large ones come and go; by size alone leaves gaps here.
TEST(Memory, ReachesTheBoundOfInterleavedLifetimes) {
  std::vector<MemoryBlock> blocks = {{64, 0, 3, 0},  {128, 0, 1, 0}, {64, 1, 5, 0},
                                     {128, 2, 3, 0}, {192, 4, 6, 0}, {64, 5, 7, 0}};
  EXPECT_EQ(plan(blocks), live_bound(blocks));
}

std::vector<MemoryBlock> random_blocks(std::mt19937& random, size_t most_bytes) {
  std::vector<MemoryBlock> blocks(1 + random() % 60);
  for (MemoryBlock& b : blocks) {
    b.first = static_cast<uint32_t>(random() % 40);
    b.last = b.first + static_cast<uint32_t>(random() % 4);
    b.bytes = random() % most_bytes;
  }
  return blocks;
}

TEST(Memory, RandomPlansAreSoundAndNearTheBound) {
  std::mt19937 random(7);
  double worst = 1;
  for (int round = 0; round < 200; ++round) {
    std::vector<MemoryBlock> blocks = random_blocks(random, 5000);
    const size_t bound = live_bound(blocks), total = plan(blocks);
    EXPECT_GE(total, bound);
    if (bound) worst = std::max(worst, static_cast<double>(total) / static_cast<double>(bound));
  }
  EXPECT_LT(worst, 1.35);  // no polynomial algorithm reaches the bound on arbitrary lifetimes
}

// Bytes of all blocks that the other of two threads had last, each thread having half of a block.
size_t handed_over(std::vector<MemoryBlock> blocks, size_t arena) {
  std::sort(blocks.begin(), blocks.end(), [](const MemoryBlock& a, const MemoryBlock& b) { return a.first < b.first; });
  std::vector<int> owner(arena, -1);
  size_t bytes = 0;
  for (const MemoryBlock& block : blocks)
    for (size_t i = 0; i < block.bytes; ++i) {
      const int now = i >= block.bytes / 2;
      bytes += owner[block.offset + i] == 1 - now;
      owner[block.offset + i] = now;
    }
  return bytes;
}

// A wide layer between narrow ones, over and over: the narrow ones' halves lie where the wide ones' do.
TEST(Memory, MemoryStaysWithItsThread) {
  constexpr size_t kWide = 48 << 10, kNarrow = 32 << 10, kResidual = 16 << 10;
  std::vector<MemoryBlock> blocks = {{kResidual, 0, 20, 0}};
  for (uint32_t i = 0; i < 20; ++i) blocks.push_back({i % 2 ? kWide : kNarrow, i, i, 0});
  const size_t alone = plan(blocks);
  EXPECT_GT(handed_over(blocks, alone), 19u * 7 << 10);
  EXPECT_EQ(plan(blocks, 2), alone);
  EXPECT_EQ(handed_over(blocks, alone), 0u);
}

TEST(Memory, OwnersNeedNoMoreMemory) {
  std::mt19937 random(8);
  size_t before = 0, after = 0;
  for (int round = 0; round < 100; ++round) {
    std::vector<MemoryBlock> blocks = random_blocks(random, 50000);
    const size_t alone = plan(blocks);
    before += handed_over(blocks, alone);
    EXPECT_EQ(plan(blocks, 2 + round % 3), alone);
    after += handed_over(blocks, alone);
  }
  EXPECT_LT(static_cast<double>(after), 0.75 * static_cast<double>(before));
}

TEST(Memory, MoreThanTheAddressSpaceIsAnError) {
  for (const size_t bytes : {SIZE_MAX / 2 + 1, SIZE_MAX / 2 - 1000, SIZE_MAX / 3}) {
    std::vector<MemoryBlock> blocks(4, {bytes, 0, 1, 0});
    for (const int threads : {1, 2}) EXPECT_FALSE(plan_memory(blocks, threads).ok()) << bytes;
  }
}

TEST(Memory, TheSameInputsGiveTheSamePlan) {
  std::vector<MemoryBlock> a(50), b;
  for (uint32_t i = 0; i < 50; ++i)
    a[i] = {.bytes = (i * 37 % 11 + 1) * 100, .first = i % 9, .last = i % 9 + i % 4, .offset = 0};
  b = a;
  for (const int threads : {1, 2}) {
    plan(a, threads);
    plan(b, threads);
    for (size_t i = 0; i < a.size(); ++i) EXPECT_EQ(a[i].offset, b[i].offset);
  }
}

}  // namespace
}  // namespace mica
