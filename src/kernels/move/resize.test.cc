// Resampling of pixels with gaps behind their channels: the results of dense ones, on every instruction set.
#include "kernels/move/resize.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "device/cpu/every_isa.h"

namespace mica {
namespace {

constexpr float kUntouched = -12345.0f;

// Two taps for each sample of an axis.
struct Axis {
  std::vector<int32_t> index;
  std::vector<float> weight;
  ResampleAxis axis;

  Axis(int64_t in, int64_t out, int64_t taps) {
    for (int64_t k = 0; k < taps; ++k)
      for (int64_t i = 0; i < out; ++i) {
        index.push_back(static_cast<int32_t>((i * in / out + k) % in));
        weight.push_back(k ? 0.25f : 0.75f);
      }
    axis = {.in = in, .out = out, .taps = taps, .index = index.data(), .weight = weight.data()};
  }
};

struct Case {
  int64_t channels, gap_in, gap_out;
  bool planes, nearest;
};

// Channel after channel of the result.
std::vector<float> run(const Case& c, Isa isa) {
  constexpr int64_t kHeight = 3, kWidth = 5, kRows = 7, kColumns = 21;
  const int64_t taps = c.nearest ? 1 : 2, pixel = c.channels + c.gap_in;
  const Axis rows(kHeight, kRows, taps), columns(kWidth, kColumns, taps);
  ResampleProblem p{.channels = c.channels, .rows = rows.axis, .columns = columns.axis};
  p.pixel_in = pixel;
  p.row_in = kWidth * pixel;
  p.pixel_out = c.planes ? 1 : c.channels + c.gap_out;
  p.channel_out = c.planes ? kRows * kColumns : 1;
  p.row_out = kColumns * p.pixel_out;
  std::vector<float> x(kHeight * p.row_in, NAN), y(kRows * kColumns * (c.channels + c.gap_out), kUntouched);
  for (int64_t i = 0; i < kHeight * kWidth; ++i)
    for (int64_t k = 0; k < c.channels; ++k) x[i * pixel + k] = static_cast<float>(i * 100 + k) * 0.37f;
  x.resize(x.size() - static_cast<size_t>(c.gap_in));  // nothing is read behind the last channel
  std::vector<float> scratch(resample_scratch(p), NAN);
  if (c.nearest)
    resample_nearest(p, sizeof(float), reinterpret_cast<const char*>(x.data()), reinterpret_cast<char*>(y.data()), 0,
                     kRows);
  else
    resample_kernels(isa).linear(p, x.data(), y.data(), scratch.data(), 0, kRows);
  std::vector<float> result;
  for (int64_t k = 0; k < c.channels; ++k)
    for (int64_t i = 0; i < kRows * kColumns; ++i) {
      float& value = y[i * p.pixel_out + k * p.channel_out];
      result.push_back(value);
      value = kUntouched;
    }
  for (float f : y) EXPECT_EQ(f, kUntouched);
  return result;
}

TEST(Resample, GapsBetweenPixels) {
  for (const Isa isa : every_isa())
    for (const bool nearest : {false, true})
      for (const int64_t channels : {2, 16, 21, 37}) {
        const std::vector<float> dense = run({channels, 0, 0, false, nearest}, isa);
        for (const float f : dense) ASSERT_FALSE(std::isnan(f));
        for (const int64_t gap_out : {0, 3})
          EXPECT_EQ(run({channels, 5, gap_out, false, nearest}, isa), dense) << name_of(isa) << " " << channels;
        if (!nearest) {
          EXPECT_EQ(run({channels, 5, 0, true, nearest}, isa), dense) << name_of(isa) << " " << channels;
        }
      }
}

}  // namespace
}  // namespace mica
