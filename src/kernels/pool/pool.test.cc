// Poolings against a double loop, on every instruction set of the machine.
#include "kernels/pool/pool.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "device/cpu/every_isa.h"
#include "kernels/plain.test.h"

namespace mica {
namespace {

constexpr float kUntouched = -12345.0f;

PoolView view_of(const int64_t (&extent)[3], int64_t channels, int64_t gap) {
  PoolView v{.pixel = channels + gap};
  v.row = (extent[2] + gap) * v.pixel;
  v.depth = extent[1] * v.row;
  v.image = extent[0] * v.depth;
  return v;
}

struct PoolCase {
  PoolProblem p;
  std::vector<float> x, y;

  void finish(int64_t gap) {
    for (int a = 0; a < 3; ++a)
      p.out[a] = (p.in[a] + p.pad[a] + p.pad_after[a] - (p.kernel[a] - 1) * p.dilation[a] - 1) / p.stride[a] + 1;
    p.in_view = view_of(p.in, p.channels, gap);
    p.out_view = view_of(p.out, p.channels, gap);
    UniformFloats(3).fill(x, p.images * p.in_view.image);
    y.assign(p.images * p.out_view.image, kUntouched);
  }
  void run(Isa isa, int threads) {
    PoolArgs args{.problem = p, .choice = choose_pool(p, threads), .x = x.data(), .y = y.data()};
    for (int64_t t = args.choice.tasks; t-- > 0;) pool_kernels(isa).run(args, t, t + 1);
  }
  MICA_PLAIN_LOOP double want(int64_t image, const int64_t (&o)[3], int64_t channel) const {
    double sum = p.kind == PoolKind::kMax ? -std::numeric_limits<double>::infinity() : 0;
    int64_t count = 0, padded = 0;
    for (int64_t a = 0; a < p.kernel[0]; ++a)
      for (int64_t b = 0; b < p.kernel[1]; ++b)
        for (int64_t c = 0; c < p.kernel[2]; ++c) {
          const int64_t at[3] = {o[0] * p.stride[0] - p.pad[0] + a * p.dilation[0],
                                 o[1] * p.stride[1] - p.pad[1] + b * p.dilation[1],
                                 o[2] * p.stride[2] - p.pad[2] + c * p.dilation[2]};
          bool inside = true, in_padding = true;
          for (int d = 0; d < 3; ++d) {
            inside = inside && at[d] >= 0 && at[d] < p.in[d];
            in_padding = in_padding && at[d] < p.in[d] + p.pad_after[d];
          }
          padded += in_padding;
          if (!inside) continue;
          ++count;
          const double v = x.data()[image * p.in_view.image + at[0] * p.in_view.depth + at[1] * p.in_view.row +
                                    at[2] * p.in_view.pixel + channel];
          if (p.kind == PoolKind::kMax)
            sum = std::isnan(v) || std::isnan(sum) ? std::nan("") : sum < v ? v : sum;
          else
            sum += p.kind == PoolKind::kL1 ? std::fabs(v) : p.kind == PoolKind::kL2 ? v * v : v;
        }
    if (p.kind == PoolKind::kAverage)
      return (p.count_padding ? padded : count) ? sum / static_cast<double>(p.count_padding ? padded : count) : 0;
    return p.kind == PoolKind::kL2 ? std::sqrt(sum) : sum;
  }
  void check() const {
    std::vector<float> rest = y;
    const double sides = static_cast<double>(p.kernel[0] + p.kernel[1] + p.kernel[2] + 3);
    for (int64_t i = 0; i < p.images; ++i)
      for (int64_t a = 0; a < p.out[0]; ++a)
        for (int64_t b = 0; b < p.out[1]; ++b)
          for (int64_t c = 0; c < p.out[2]; ++c)
            for (int64_t n = 0; n < p.channels; ++n) {
              const double w = want(i, {a, b, c}, n);
              const int64_t at =
                  i * p.out_view.image + a * p.out_view.depth + b * p.out_view.row + c * p.out_view.pixel + n;
              rest[at] = kUntouched;
              if (p.kind == PoolKind::kMax) {
                ASSERT_TRUE(std::isnan(w) ? std::isnan(y[at]) : y[at] == static_cast<float>(w));
              } else {  // terms below 1 in magnitude; the sum is scaled with its result
                const double scale =
                    p.kind == PoolKind::kAverage ? 1 : static_cast<double>(p.kernel[0] * p.kernel[1] * p.kernel[2]);
                ASSERT_TRUE(std::fabs(y[at] - w) <= 6e-8 * sides * scale) << y[at] << " for " << w;
              }
            }
    ASSERT_EQ(std::ranges::count(rest, kUntouched), std::ssize(rest));
  }
};

class Pool : public testing::TestWithParam<Isa> {};

TEST_P(Pool, ShapesAndKinds) {
  for (int kind = 0; kind < 4; ++kind)
    for (int64_t channels : {1, 16, 37, 150})
      for (int64_t kernel : {1, 2, 3})
        for (int64_t stride : {1, 2})
          for (int64_t dilation : {1, 2})
            for (bool count_padding : {false, true}) {
              PoolCase c;
              c.p = {.kind = static_cast<PoolKind>(kind),
                     .images = 2,
                     .channels = channels,
                     .in = {1, 7, 9},
                     .kernel = {1, kernel, kernel},
                     .stride = {1, stride, stride},
                     .dilation = {1, dilation, dilation},
                     .pad = {0, kernel / 2, 0},
                     .pad_after = {0, 0, kernel - 1},
                     .count_padding = count_padding};
              c.finish(channels == 16 ? 3 : 0);
              c.run(GetParam(), 2);
              ASSERT_NO_FATAL_FAILURE(c.check()) << kind << " " << channels << " " << kernel;
            }
}

// Windows that share columns: more of them than are kept at a time, windows without a pixel, gaps.
TEST_P(Pool, LargeWindows) {
  for (int64_t width : {5, 31, 150})
    for (int64_t kernel : {4, 5, 13, 33, 60})
      for (int64_t stride : {1, 2, 3})
        for (int64_t dilation : {1, 2})
          for (int64_t pad : {0, 6}) {
            PoolCase c;
            const bool average = (kernel + stride + pad) % 2 == 0;
            c.p = {.kind = average ? PoolKind::kAverage : PoolKind::kMax,
                   .channels = kernel == 5 ? 37 : 16,
                   .in = {kernel == 4 ? 3 : 1, 9, width},
                   .kernel = {kernel == 4 ? 2 : 1, 5, kernel},
                   .stride = {1, stride, stride},
                   .dilation = {1, dilation, dilation},
                   .pad = {0, pad, pad},
                   .pad_after = {0, 6, 30},
                   .count_padding = dilation == 2};
            if ((kernel - 1) * dilation >= width + pad + 30) continue;
            c.finish(kernel == 5 ? 3 : 0);
            for (size_t i = 0; i < c.x.size() && !average; i += 977) c.x[i] = i % 2 ? NAN : INFINITY;
            c.run(GetParam(), 2);
            ASSERT_NO_FATAL_FAILURE(c.check()) << width << " k=" << kernel << " s=" << stride << " d=" << dilation;
          }
}

// Rows that are lines of numbers: more of them than are kept at a time, windows without a pixel.
TEST_P(Pool, FewChannels) {
  for (int64_t width : {2, 31, 333, 1100})
    for (int64_t channels : {1, 2, 3, 4, 7, 8})
      for (int64_t kernel : {2, 3, 16, 49, 401})
        for (int64_t stride : {1, 2, 3})
          for (int64_t pad : {0, 5}) {
            if ((kernel - 1) * (1 + pad / 4) >= width + pad + 9) continue;
            PoolCase c;
            const bool average = (kernel + stride + channels) % 2 == 0;
            c.p = {.kind = average ? PoolKind::kAverage : PoolKind::kMax,
                   .images = 2,
                   .channels = channels,
                   .in = {stride, 5, width},
                   .kernel = {stride, 2, kernel},
                   .stride = {1, 2, stride},
                   .dilation = {1, 1, 1 + pad / 4},
                   .pad = {0, pad / 5, pad},
                   .pad_after = {0, 1, 9},
                   .count_padding = pad == 5};
            c.finish(0);
            for (size_t i = 0; i < c.x.size() && !average; i += 97) c.x[i] = i % 2 ? NAN : INFINITY;
            c.run(GetParam(), 2);
            ASSERT_NO_FATAL_FAILURE(c.check()) << width << "x" << channels << " k=" << kernel << " s=" << stride;
          }
}

TEST_P(Pool, GlobalAndThreeAxes) {
  for (int kind = 0; kind < 4; ++kind)
    for (int64_t depth : {1, 3}) {
      PoolCase c;
      c.p = {.kind = static_cast<PoolKind>(kind),
             .images = 2,
             .channels = 70,
             .in = {depth, 30, 31},
             .kernel = {depth, 30, 31}};
      c.finish(0);
      c.run(GetParam(), 8);
      ASSERT_NO_FATAL_FAILURE(c.check());
      c.p.kernel[0] = 1, c.p.kernel[1] = 2, c.p.kernel[2] = 5;
      c.finish(1);
      c.run(GetParam(), 8);
      ASSERT_NO_FATAL_FAILURE(c.check());
    }
}

TEST_P(Pool, NotANumberAndInfinityPass) {
  PoolCase c;
  c.p = {.channels = 20, .in = {1, 6, 6}, .kernel = {1, 3, 3}};
  c.finish(0);
  c.x[2 * c.p.in_view.row + 2 * 20 + 5] = std::numeric_limits<float>::quiet_NaN();
  c.x[3 * c.p.in_view.row + 3 * 20 + 19] = std::numeric_limits<float>::quiet_NaN();
  for (int i = 0; i < 36; ++i) c.x[i * 20 + 7] = -std::numeric_limits<float>::infinity();
  c.run(GetParam(), 1);
  ASSERT_NO_FATAL_FAILURE(c.check());
}

TEST_P(Pool, EmptyOutputsHaveNoTasks) {
  EXPECT_EQ(choose_pool({.images = 0}, 4).tasks, 0);
  EXPECT_EQ(choose_pool({.channels = 0}, 4).tasks, 0);
}

INSTANTIATE_TEST_SUITE_P(Every, Pool, testing::ValuesIn(every_isa()), IsaName());

}  // namespace
}  // namespace mica
