// Copies of every element size and pattern against an element loop, on every instruction set of the machine.
#include "kernels/move/move.h"

#include <gtest/gtest.h>

#include <cstring>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include "device/cpu/every_isa.h"

namespace mica {
namespace {

std::string text_of(const CopyPlan& plan) {
  char text[256];
  return {text, print(plan, text, sizeof text)};
}

// A source of random bytes, a poisoned destination, and how elements map.
struct CopyCase {
  std::vector<CopyAxis> axes;
  int64_t element = 4, from_offset = 0;

  int64_t span(bool to) const {
    int64_t bytes = element;
    for (const CopyAxis& a : axes) bytes += (a.size - 1) * std::abs(to ? a.to : a.from);
    return bytes;
  }
  std::vector<char> expect(const std::vector<char>& source, int64_t size) const {
    std::vector<char> out(static_cast<size_t>(size), '\x55');
    int64_t total = 1;
    for (const CopyAxis& a : axes) total *= a.size;
    for (int64_t n = 0; n < total; ++n) {
      int64_t from = from_offset, to = 0, rest = n;
      for (size_t i = axes.size(); i-- > 0; rest /= axes[i].size) {
        from += rest % axes[i].size * axes[i].from;
        to += rest % axes[i].size * axes[i].to;
      }
      std::memcpy(out.data() + to, source.data() + from, static_cast<size_t>(element));
    }
    return out;
  }
};

void check(const CopyCase& c) {
  std::mt19937 random(5);
  std::vector<char> source(static_cast<size_t>(c.span(false) + c.from_offset + 64));
  for (char& b : source) b = static_cast<char>(random());
  const int64_t size = c.span(true) + 64;
  const std::vector<char> want = c.expect(source, size);
  const CopyPlan plan = plan_copy(c.axes.data(), static_cast<int>(c.axes.size()), c.element);
  for (const Isa isa : every_isa()) {
    for (const int64_t step : {int64_t{1}, int64_t{3}, std::max<int64_t>(plan.tasks, 1)}) {
      std::vector<char> out(static_cast<size_t>(size), '\x55');
      for (int64_t t = plan.tasks; t > 0; t -= step)  // backwards: tasks are independent
        move_kernels(isa).copy(plan, source.data() + c.from_offset, out.data(), std::max<int64_t>(t - step, 0), t);
      ASSERT_EQ(out, want) << text_of(plan) << " on " << name_of(isa) << " by " << step;
    }
  }
}

// Dense strides on the writing side, `order` (outermost first) on the reading side.
CopyCase transposed(std::vector<int64_t> dims, const std::vector<int>& order, int64_t element) {
  CopyCase c;
  c.element = element;
  c.axes.resize(dims.size());
  int64_t step = element;
  for (size_t i = dims.size(); i-- > 0; step *= dims[i]) c.axes[i] = {dims[i], 0, step};
  step = element;
  for (size_t i = order.size(); i-- > 0; step *= dims[static_cast<size_t>(order[i])])
    c.axes[static_cast<size_t>(order[i])].from = step;
  return c;
}

TEST(Copy, EveryPermutationAndElementSize) {
  for (const int64_t element : {1, 2, 4, 8, 16}) {
    std::vector<int> order{0, 1, 2};
    do check(transposed({5, 67, 35}, order, element));
    while (std::next_permutation(order.begin(), order.end()));
  }
}

TEST(Copy, LargeTransposesHaveManyTasks) {
  for (const int64_t element : {1, 2, 4, 8}) check(transposed({257, 1031}, {1, 0}, element));
  check(transposed({3, 1, 20000}, {2, 1, 0}, 4));
  check(transposed({20000, 3}, {1, 0}, 4));
}

TEST(Copy, AwkwardSizes) {
  for (const int64_t rows : {1, 2, 7, 8, 9, 16, 17, 64, 65})
    for (const int64_t columns : {1, 3, 15, 16, 33, 64, 100})
      for (const int64_t element : {1, 2, 4}) check(transposed({rows, columns}, {1, 0}, element));
}

TEST(Copy, RowsOfAnyLengthBetweenPitches) {
  for (int64_t n = 1; n < 150; n += n < 70 ? 1 : 13) check({{{6, n + 5, n + 3}, {n, 1, 1}}, 1, 0});
  check({{{3, 200000, 200010}, {199999, 1, 1}}, 1, 0});
}

TEST(Copy, FillsAndRepeats) {
  for (const int64_t element : {1, 2, 4, 8, 16}) {
    check({{{7, 0, 40 * element}, {33, 0, element}}, element, 0});
    check({{{4, 0, 10 * element}, {10, element, element}}, element, 0});
    check({{{10, element, 4 * element}, {4, 0, element}}, element, 0});
  }
}

TEST(Copy, BackwardsAndSteps) {
  check({{{9, -4, 4}}, 4, 32});
  check({{{5, 80, 36}, {9, -8, 4}}, 4, 72});
  check({{{6, 24, 8}, {2, 4, 4}}, 4, 0});
}

TEST(Copy, NothingAndOneElement) {
  const CopyAxis none[] = {{4, 4, 4}, {0, 4, 4}};
  EXPECT_EQ(plan_copy(none, 2, 4).tasks, 0);
  for (const int64_t element : {1, 2, 4, 8, 16}) check({{}, element, 0});
}

TEST(Copy, PlansJoinAndWiden) {
  EXPECT_EQ(text_of(plan_copy(transposed({4, 5, 6}, {0, 1, 2}, 4).axes.data(), 3, 4)), "rows 4 [0] 480x1 tasks=1");
  EXPECT_EQ(text_of(plan_copy(transposed({64, 56, 56}, {1, 2, 0}, 4).axes.data(), 3, 4)),
            "transpose 4 [0] 3136x64 tasks=49");
  EXPECT_EQ(text_of(plan_copy(transposed({40, 30, 2}, {1, 0, 2}, 4).axes.data(), 3, 4)),
            "transpose 8 [0] 30x40 tasks=1");
}

TEST(Gather, RowsByIndex) {
  const std::vector<float> table{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11};  // [2, 3, 2]
  const std::vector<int64_t> wide{2, -3, 1, -1};
  const std::vector<int32_t> narrow{2, -3, 1, -1};
  GatherPlan plan{.outer = 2,
                  .count = 4,
                  .row_bytes = 8,
                  .table_outer = 24,
                  .table_row = 8,
                  .out_outer = 32,
                  .out_row = 8,
                  .size = 3};
  for (const bool is_wide : {true, false}) {
    plan.wide = is_wide;
    const void* indices = is_wide ? static_cast<const void*>(wide.data()) : narrow.data();
    std::vector<float> out(16, -1);
    gather_rows(plan, reinterpret_cast<const char*>(table.data()), indices, reinterpret_cast<char*>(out.data()), 0, 8);
    EXPECT_EQ(out, (std::vector<float>{4, 5, 0, 1, 2, 3, 4, 5, 10, 11, 6, 7, 8, 9, 10, 11}));
    EXPECT_EQ(gather_out_of_range(plan, indices), -1);
    plan.size = 2;
    EXPECT_EQ(gather_out_of_range(plan, indices), 0);
    plan.size = 3;
  }
}

}  // namespace
}  // namespace mica
