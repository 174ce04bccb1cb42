#include "kernels/pack/form.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <vector>

namespace mica {
namespace {

void expect_round_trip(const PackForm& form, const std::vector<int64_t>& dims) {
  int64_t count = 1;
  for (int64_t d : dims) count *= d;
  std::vector<float> plain(static_cast<size_t>(count)), back(plain.size(), -1);
  std::iota(plain.begin(), plain.end(), 1.0f);
  const int64_t floats = packed_floats(key_of(form), dims);
  ASSERT_GE(floats, count);
  std::vector<float> packed(static_cast<size_t>(floats), -2);
  pack_by_key(key_of(form), dims, plain.data(), packed.data());
  EXPECT_EQ(std::count(packed.begin(), packed.end(), -2.0f), 0);  // every float is written
  unpack_by_key(key_of(form), dims, packed.data(), back.data());
  EXPECT_EQ(back, plain);
}

TEST(PackForm, EveryFormComesBack) {
  for (const auto& dims :
       std::vector<std::vector<int64_t>>{{1, 1}, {7, 17}, {2, 5, 33}, {0, 3}, {3, 0}, {2, 1, 3, 16}}) {
    expect_round_trip({.kind = PackKind::kPanels16, .layout = PackLayout::kMatrix}, dims);
    expect_round_trip({.kind = PackKind::kPanels16, .layout = PackLayout::kTransposed}, dims);
  }
  for (const int64_t groups : {1, 2, 6})
    expect_round_trip({.kind = PackKind::kPanels16, .layout = PackLayout::kConv, .groups = groups}, {18, 5, 3, 2});
  expect_round_trip({.kind = PackKind::kPanels16, .layout = PackLayout::kConv}, {17, 3, 2, 3, 5});
  expect_round_trip({.kind = PackKind::kDepthwise16, .layout = PackLayout::kConv, .groups = 19}, {19, 1, 3, 3});
  for (const int64_t width : {2, 4, 8, 16, 32})
    expect_round_trip({.kind = PackKind::kGrouped16, .layout = PackLayout::kConv, .groups = 3},
                      {3 * width, width, 3, 2});
  for (const int64_t outputs : {1, 2, 5, 16, 40})
    for (const int64_t inputs : {1, 2, 3, 32})
      if (inputs * outputs > 1)
        expect_round_trip({.kind = PackKind::kGrouped16, .layout = PackLayout::kConv, .groups = 7},
                          {7 * outputs, inputs, 2, 3});
}

// One row of taps: the same bytes as the kernels' own packing.
TEST(PackForm, ConvolutionsArePackedAsTheKernelsReadThem) {
  const std::vector<int64_t> dims = {5, 3, 2, 2};
  std::vector<float> plain(60), packed(static_cast<size_t>(packed_floats(
                                    key_of({.kind = PackKind::kPanels16, .layout = PackLayout::kConv}), dims)));
  std::iota(plain.begin(), plain.end(), 1.0f);
  pack_by_key(key_of({.kind = PackKind::kPanels16, .layout = PackLayout::kConv}), dims, plain.data(), packed.data());
  for (int64_t y = 0; y < 2; ++y)
    for (int64_t x = 0; x < 2; ++x)
      for (int64_t i = 0; i < 3; ++i)
        for (int64_t o = 0; o < 5; ++o)
          EXPECT_EQ(packed[static_cast<size_t>(((y * 2 + x) * 3 + i) * 16 + o)],
                    plain[static_cast<size_t>(((o * 3 + i) * 2 + y) * 2 + x)]);
}

TEST(PackForm, KeysThatDoNotFitHaveNoSize) {
  const std::vector<int64_t> conv = {8, 4, 3, 3}, line = {5};
  EXPECT_EQ(packed_floats(PackKey(), conv), -1);
  EXPECT_EQ(packed_floats(key_of({.kind = PackKind::kPanels16, .layout = PackLayout::kConv, .groups = 3}), conv), -1);
  EXPECT_EQ(packed_floats(key_of({.kind = PackKind::kPanels16, .layout = PackLayout::kConv, .groups = 0}), conv), -1);
  EXPECT_EQ(packed_floats(key_of({.kind = PackKind::kDepthwise16, .layout = PackLayout::kConv, .groups = 8}), conv),
            -1);
  for (const int64_t width : {1, 33, 64})
    EXPECT_EQ(packed_floats(key_of({.kind = PackKind::kGrouped16, .layout = PackLayout::kConv, .groups = 2}),
                            std::vector<int64_t>{2 * width, width, 3, 3}),
              -1);
  EXPECT_EQ(packed_floats(key_of({.kind = PackKind::kGrouped16, .layout = PackLayout::kConv, .groups = 3}), conv), -1);
  EXPECT_EQ(packed_floats(key_of({.kind = PackKind::kGrouped16, .layout = PackLayout::kConv, .groups = 1}), conv), -1);
  EXPECT_EQ(packed_floats(key_of({.kind = PackKind::kGrouped16}), conv), -1);
  EXPECT_EQ(packed_floats(key_of({.kind = PackKind::kPanels16}), line), -1);
  PackKey spare = key_of({.kind = PackKind::kPanels16});
  spare.parameters[5] = 1;
  EXPECT_EQ(packed_floats(spare, conv), -1);
  const std::vector<int64_t> huge = {INT64_MAX / 16, 1};
  EXPECT_EQ(packed_floats(key_of({.kind = PackKind::kPanels16}), huge), -1);
  const std::vector<int64_t> empty = {0, INT64_MAX / 16};  // no time is spent on panels of nothing
  EXPECT_EQ(packed_floats(key_of({.kind = PackKind::kPanels16}), empty), 0);
  unpack_by_key(key_of({.kind = PackKind::kPanels16}), empty, nullptr, nullptr);
}

}  // namespace
}  // namespace mica
