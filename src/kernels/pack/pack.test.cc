#include "kernels/pack/pack.h"

#include <gtest/gtest.h>

#include <vector>

namespace mica {
namespace {

// Weights [out][in][height][width] as the matrix (height, width, in) x out.
PanelSource conv_source(std::vector<float>& w, int64_t out, int64_t in, int64_t height, int64_t width) {
  return {.data = w.data(),
          .n = out,
          .n_stride = in * height * width,
          .k = {1, height, width, in},
          .k_stride = {0, width, 1, height * width}};
}

TEST(Pack, PanelsHoldTheMatrixAndComeBack) {
  for (int64_t out : {1, 15, 16, 17, 33}) {
    const int64_t in = 5, height = 3, width = 2, k = in * height * width;
    std::vector<float> w(out * k), back(out * k, -1.0f), packed(panels_size(k, out), -2.0f);
    for (size_t i = 0; i < w.size(); ++i) w[i] = static_cast<float>(i + 1);
    pack_panels(conv_source(w, out, in, height, width), packed.data());
    for (int64_t o = 0; o < panel_count(out) * kPanel; ++o)
      for (int64_t y = 0; y < height; ++y)
        for (int64_t x = 0; x < width; ++x)
          for (int64_t i = 0; i < in; ++i) {
            const float want = o < out ? w[((o * in + i) * height + y) * width + x] : 0.0f;
            ASSERT_EQ(packed[(o / 16 * k + (y * width + x) * in + i) * 16 + o % 16], want);
          }
    unpack_panels(packed.data(), conv_source(back, out, in, height, width));
    EXPECT_EQ(back, w);
  }
}

TEST(Pack, EmptyMatricesPackToNothing) {
  EXPECT_EQ(panels_size(0, 5), 0);
  EXPECT_EQ(panels_size(5, 0), 0);
  pack_panels({.data = nullptr, .n = 0, .n_stride = 1, .k = {1, 1, 1, 5}, .k_stride = {0, 0, 0, 1}}, nullptr);
}

}  // namespace
}  // namespace mica
