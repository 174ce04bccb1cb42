#include "runtime/packing.h"

#include <gtest/gtest.h>

#include <cstring>
#include <vector>

namespace mica {
namespace {

struct Form {
  char* data;
  size_t bytes;
};

// Small and large ones by turns, so that the rest of one block holds what comes after the next is begun.
TEST(WeightMemory, FormsStandApart) {
  WeightMemory memory;
  std::vector<Form> forms;
  for (size_t i = 0; i < 60; ++i) {
    const size_t bytes = i % 7 == 6 ? (size_t{9} << 20) + i : (size_t{300} << 10) * (i % 5) + 40 + i;
    char* data = static_cast<char*>(memory.take(bytes));
    ASSERT_NE(data, nullptr);
    ASSERT_EQ(reinterpret_cast<uintptr_t>(data) % 64, 0u);
    std::memset(data, static_cast<int>(i), bytes);
    forms.push_back({data, bytes});
  }
  for (size_t i = 0; i < forms.size(); ++i)
    for (size_t k = 0; k < forms[i].bytes; ++k) ASSERT_EQ(forms[i].data[k], static_cast<char>(i)) << i << " " << k;
}

TEST(WeightMemory, WhatWasGivenBackIsTakenNext) {
  WeightMemory memory;
  ASSERT_NE(memory.take(size_t{5} << 20), nullptr);
  for (size_t bytes : {100u, 70000u, 3u << 20}) {
    void* unused = memory.take(bytes);
    memory.give_back(bytes);
    EXPECT_EQ(memory.take(bytes), unused);
  }
}

TEST(WeightMemory, MoreThanThereIs) {
  WeightMemory memory;
  EXPECT_EQ(memory.take(size_t{1} << 62), nullptr);
  EXPECT_EQ(memory.take(SIZE_MAX - 2), nullptr);
  EXPECT_NE(memory.take(1), nullptr);
}

}  // namespace
}  // namespace mica
