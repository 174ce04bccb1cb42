#include "base/nearest.h"

#include <gtest/gtest.h>

#include <string>

namespace mica {
namespace {

TEST(Nearest, DistancesAreLevenshteins) {
  EXPECT_EQ(edit_distance("", ""), 0u);
  EXPECT_EQ(edit_distance("", "abc"), 3u);
  EXPECT_EQ(edit_distance("abc", ""), 3u);
  EXPECT_EQ(edit_distance("kitten", "sitting"), 3u);
  EXPECT_EQ(edit_distance("Pads", "pads"), 0u);
  EXPECT_EQ(edit_distance("stride", "strides"), 1u);
  EXPECT_EQ(edit_distance(std::string(500, 'a'), std::string(400, 'a')), 0u);
}

TEST(Nearest, FindsTheClosestAndNothingFarAway) {
  Nearest near("stride");
  for (auto name : {"groups", "strides", "dilations"}) near.offer(name);
  EXPECT_EQ(near.best(), "strides");
  Nearest far("stride");
  for (auto name : {"groups", "axis"}) far.offer(name);
  EXPECT_EQ(far.best(), "");
}

}  // namespace
}  // namespace mica
