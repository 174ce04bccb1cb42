#include "base/arena.h"

#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <vector>

namespace mica {
namespace {

TEST(Arenas, ObjectsAreApartAndAligned) {
  for (size_t first : {size_t{0}, size_t{64}, size_t{5000}}) {
    Arena arena(first);
    std::vector<std::pair<unsigned char*, size_t>> made;
    for (size_t i = 0; i < 500; ++i) {
      const size_t bytes = (i * 37) % 301, align = size_t{1} << (i % 9);
      unsigned char* p = static_cast<unsigned char*>(arena.allocate(bytes, align));
      ASSERT_NE(p, nullptr);
      ASSERT_EQ(reinterpret_cast<uintptr_t>(p) % align, 0u);
      if (bytes) std::memset(p, static_cast<int>(i & 255), bytes);
      made.push_back({p, bytes});
    }
    for (size_t i = 0; i < made.size(); ++i) {
      for (size_t k = 0; k < made[i].second; ++k) ASSERT_EQ(made[i].first[k], i & 255);
    }
  }
}

TEST(Arenas, ResetKeepsMemory) {
  Arena arena(256);
  size_t reserved = 0;
  for (int round = 0; round < 5; ++round) {
    for (int i = 0; i < 100; ++i) ASSERT_NE(arena.allocate(100), nullptr);
    ASSERT_NE(arena.allocate(100000, 4096), nullptr);
    if (round == 0) reserved = arena.reserved_bytes();
    EXPECT_EQ(arena.reserved_bytes(), reserved);
    arena.reset();
  }
  arena.release();
  EXPECT_EQ(arena.reserved_bytes(), 0u);
  EXPECT_NE(arena.allocate(1), nullptr);
}

struct Point {
  int x = 1, y = 2;
};

TEST(Arenas, TypesAndCopies) {
  Arena arena;
  EXPECT_EQ((*arena.make<Point>())->y, 2);
  EXPECT_EQ((*arena.make<Point>(5, 6))->x, 5);
  auto array = arena.make_array<Point>(3);
  ASSERT_TRUE(array.ok());
  EXPECT_EQ((*array)[2].x, 1);
  EXPECT_EQ(arena.make_array<int>(0)->size(), 0u);
  const int source[] = {1, 2, 3};
  EXPECT_EQ((*arena.copy(std::span<const int>(source)))[2], 3);
  EXPECT_STREQ(arena.copy_text("abc")->data(), "abc");
  EXPECT_EQ(*arena.copy_text({}), "");
  Arena moved = std::move(arena);
  EXPECT_GT(moved.reserved_bytes(), 0u);
  arena = std::move(moved);
  EXPECT_EQ((*arena.make<Point>())->y, 2);
}

TEST(Arenas, Failure) {
  Arena arena;
  EXPECT_EQ(arena.allocate(SIZE_MAX), nullptr);
  EXPECT_EQ(arena.allocate(1, size_t{1} << 63), nullptr);
  EXPECT_EQ(arena.make_array<Point>(SIZE_MAX / 4).error().code(), Code::kOutOfMemory);
  EXPECT_NE(arena.allocate(10), nullptr);
}

}  // namespace
}  // namespace mica
