// Instance and group normalisation of pictures whose channels are neighbours.
#include "kernels/norm/norm.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "device/cpu/every_isa.h"

namespace mica {
namespace {

struct Picture {
  int64_t images, channels, groups, pixels, in_gap, out_gap;
};

struct NormCase {
  NormArgs args;
  std::vector<float> x, y, scale, bias;

  NormCase(const Picture& p, float mean) {
    args = {.per_element = false, .epsilon = 1e-5f, .rows = p.images * p.groups, .n = p.pixels, .groups = p.groups};
    args.runs = args.parameters_per_group = p.channels / p.groups;
    args.in_pixel = p.channels + p.in_gap, args.out_pixel = p.channels + p.out_gap;
    args.in_batch = p.pixels * args.in_pixel, args.out_batch = p.pixels * args.out_pixel;
    prepare_norm(args);
    std::mt19937 random(static_cast<unsigned>(p.channels * 131 + p.pixels));
    std::normal_distribution<float> normal(mean, 1);
    x.resize(static_cast<size_t>(p.images * args.in_batch));
    for (float& f : x) f = normal(random);
    for (int64_t c = 0; c < p.channels; ++c) scale.push_back(normal(random) - mean), bias.push_back(normal(random));
    y.assign(static_cast<size_t>(p.images * args.out_batch), kUntouched);
  }
  static constexpr float kUntouched = -12345.0f;

  void run(Isa isa) {
    for (int64_t t = 0; t < args.tasks; ++t)
      norm_kernels(isa).norm(args, {x.data(), scale.data(), bias.data(), y.data(), nullptr, nullptr}, t, t + 1);
  }
};

// By doubles; the mean's rounding moves results by half a unit of the mean, times scale / deviation, which for a group
// of one element is 1 / sqrt(epsilon).
void check(const NormCase& c, int64_t images, double mean_size) {
  const NormArgs& a = c.args;
  const auto total = static_cast<double>(a.runs * a.n);
  std::vector<float> seen = c.y;
  for (int64_t row = 0; row < images * a.groups; ++row) {
    const int64_t image = row / a.groups, group = row % a.groups;
    const auto at = [&](int64_t i, int64_t k) { return image * a.in_batch + i * a.in_pixel + group * a.runs + k; };
    double sum = 0, square = 0;
    for (int64_t i = 0; i < a.n; ++i)
      for (int64_t k = 0; k < a.runs; ++k) sum += c.x[at(i, k)];
    for (int64_t i = 0; i < a.n; ++i)
      for (int64_t k = 0; k < a.runs; ++k) square += std::pow(c.x[at(i, k)] - sum / total, 2);
    const double factor = 1 / std::sqrt(square / total + a.epsilon);
    for (int64_t i = 0; i < a.n; ++i)
      for (int64_t k = 0; k < a.runs; ++k) {
        const int64_t channel = group * a.runs + k, to = image * a.out_batch + i * a.out_pixel + channel;
        const double part = (c.x[at(i, k)] - sum / total) * factor * c.scale[channel], want = part + c.bias[channel];
        const double size = std::fabs(part) + std::fabs(c.bias[channel]) + 1;
        const double bound = 0x1p-20 * size + 0x1p-22 * mean_size * factor * std::fabs(c.scale[channel]);
        ASSERT_TRUE(std::fabs(c.y[to] - want) <= bound) << c.y[to] << " for " << want << " at " << i << "," << channel;
        seen[to] = NormCase::kUntouched;
      }
  }
  for (float f : seen) ASSERT_EQ(f, NormCase::kUntouched) << "written beside the picture";
}

constexpr Picture kPictures[] = {{1, 16, 16, 128, 0, 0}, {2, 17, 17, 129, 3, 0}, {1, 40, 40, 5, 0, 7},
                                 {2, 3, 3, 1000, 0, 0},  {1, 1, 1, 300, 1, 2},   {1, 64, 32, 65, 0, 0},
                                 {2, 60, 6, 33, 5, 1},   {1, 100, 2, 257, 0, 0}, {1, 35, 7, 4, 0, 0},
                                 {1, 48, 1, 400, 0, 0},  {1, 20, 20, 1, 0, 0}};

TEST(NormPixels, Right) {
  for (const Isa isa : every_isa())
    for (const Picture& p : kPictures)
      for (const float mean : {0.0f, 1000.0f}) {
        SCOPED_TRACE(testing::Message() << name_of(isa) << ' ' << p.channels << " channels in " << p.groups
                                        << " groups, " << p.pixels << " pixels about " << mean);
        NormCase c(p, mean);
        c.run(isa);
        ASSERT_NO_FATAL_FAILURE(check(c, p.images, mean));
      }
}

TEST(NormPixels, NanStaysInItsGroup) {
  for (const Isa isa : every_isa()) {
    NormCase c({1, 60, 6, 33, 0, 0}, 0);
    c.x[7 * 60 + 25] = std::numeric_limits<float>::quiet_NaN();  // of the third group
    c.run(isa);
    for (int64_t i = 0; i < 33; ++i)
      for (int64_t channel = 0; channel < 60; ++channel)
        EXPECT_EQ(std::isnan(c.y[i * 60 + channel]), channel / 10 == 2) << i << " " << channel;
  }
}

// Short rows go side by side; a row's bits are those that it has alone.
TEST(NormRows, NeighboursChangeNoBit) {
  constexpr int64_t kRows = 37;
  for (const Isa isa : every_isa())
    for (const int64_t n : {1, 15, 16, 100, 256, 257, 300, 511, 512, 513, 700})
      for (const bool center : {true, false}) {
        NormArgs args{.center = center, .epsilon = 1e-5f, .rows = kRows, .n = n};
        args.in_batch = args.out_batch = n;
        prepare_norm(args);
        NormArgs alone = args;
        alone.rows = 1;
        prepare_norm(alone);
        std::mt19937 random(static_cast<unsigned>(n));
        std::normal_distribution<float> normal(3, 1);
        std::vector<float> x(static_cast<size_t>(kRows * n)), scale(static_cast<size_t>(n)), y(x.size()),
            want(x.size());
        for (float& f : x) f = normal(random);
        for (float& f : scale) f = normal(random);
        x[static_cast<size_t>(5 * n)] = std::numeric_limits<float>::quiet_NaN();
        const auto bits = [](const std::vector<float>& v) {
          return std::string(reinterpret_cast<const char*>(v.data()), v.size() * sizeof(float));
        };
        norm_kernels(isa).norm(args, {x.data(), scale.data(), nullptr, y.data(), nullptr, nullptr}, 0, args.tasks);
        for (int64_t r = 0; r < kRows; ++r)
          norm_kernels(isa).norm(alone, {&x[r * n], scale.data(), nullptr, &want[r * n], nullptr, nullptr}, 0, 1);
        EXPECT_EQ(bits(y), bits(want)) << name_of(isa) << ' ' << n;
        EXPECT_TRUE(std::isnan(y[5 * n + n - 1]) && !std::isnan(y[4 * n]) && !std::isnan(y[6 * n])) << n;
      }
}

}  // namespace
}  // namespace mica
